#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "faults/arena.hpp"

namespace holdfast::faults {

/// One process that contends, from its start to its end. Times are on CLOCK_BOOTTIME.
struct Life {
  struct Pause {
    Moment from = {};      ///< just before the signal
    Moment until = never;  ///< just after SIGCONT
  };

  std::size_t slot = 0;
  pid_t pid = -1;
  Mapping<Log> log = {};
  Moment started = {};
  Moment killed = never;   ///< just before the signal; never: it was not
  Moment gone = never;     ///< it was waited for
  std::string death = {};  ///< how it ended, if neither in good order nor by our hand
  std::vector<Pause> pauses = {};
  bool standing_still = false;
};

/// Some processes that contend for the locks of one arena: one life after the other in each slot. They die with it.
class Fleet {
 public:
  Fleet(Mapping<Arena>& arena, std::size_t slots);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::size_t slots() const { return current_.size(); }
  Life& at(std::size_t slot) { return lives_[current_[slot]]; }
  const std::vector<Life>& lives() const { return lives_; }

  /// SIGKILL; then another process takes the slot.
  void replace(std::size_t slot);
  void stop(std::size_t slot);
  void resume(std::size_t slot);
  /// Whether the process has stopped itself since it was last asked, and stands still now.
  bool has_stopped_itself(std::size_t slot);
  /// Lets everybody have a last turn and end. False if that is not done within `bound`.
  bool finish(milliseconds bound);
  /// SIGKILL to whoever is left.
  void kill_everybody();

 private:
  void start(std::size_t slot);
  void kill(Life& life);
  /// Looks what has become of it; true if it has ended.
  static bool reap(Life& life, int options);

  Mapping<Arena>& arena_;
  std::vector<Life> lives_;
  std::vector<std::size_t> current_;
};

}  // namespace holdfast::faults
