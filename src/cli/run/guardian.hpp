#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/file_descriptor.hpp"
#include "cli/run/guardian_link.hpp"
#include "cli/run/job.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// The tool's side of the guardian: a small process between the tool and the command that ends the command, with all
/// its descendants, when the lock cannot be held any longer, also when the tool is stopped or dead. Not thread-safe.
class Guardian {
 public:
  /// Forks it. REQUIRES: no other thread exists yet. `job` and `signals` must outlive *this.
  Guardian(const Job& job, const Signals& signals);
  /// Leaves: a guardian that runs a command then kills it. Waits until the guardian has ended.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// The lease lasts for `remaining` from `now`, a moment before that was asked for. Never makes it shorter.
  void set_remaining(BootClock::time_point now, std::chrono::nanoseconds remaining);
  /// Starts the command, which may run until `turn_ends` at most. REQUIRES: set_remaining().
  void start(const Grant& grant, BootClock::time_point turn_ends);
  void forward(int signal);
  void tell_lost();

  /// Readable when the command has ended, or the guardian died.
  int descriptor() const { return link_.get(); }
  /// How the command ended. Empty if the guardian died: what is left of the command is then a descendant of this
  /// process. Blocks until either has happened.
  std::optional<Ended> ended();

 private:
  void send(const Order& order);

  struct Unmap {
    void operator()(SharedState* state) const;
  };

  std::unique_ptr<SharedState, Unmap> state_;
  FileDescriptor link_;
  pid_t pid_ = -1;
};

}  // namespace holdfast::cli
