#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/demo/event.hpp"

namespace holdfast::cli::demo {

/// What the reader's screen can show.
struct Look {
  bool lanes = false;    ///< two columns, 80 wide: a terminal. Else one line per event
  bool colours = false;  ///< escape codes are welcome
  bool utf8 = false;     ///< else ASCII only
};

enum class Mood { plain, good, bad, warning };

/// The demonstration as text: one event after the other, each host in a lane of its own. The bar at the left of a lane
/// says how the host and the lock stand:
///
/// | UTF-8 | ASCII | the host                                                                      |
/// |-------|-------|-------------------------------------------------------------------------------|
/// | `█`   | `#`   | holds the lock                                                                |
/// | `▒`   | `:`   | cannot work (dead or paused), and the lock is still in its name               |
/// | `│`   | `|`   | is there, without the lock                                                    |
/// |       |       | is not there                                                                  |
///
/// Pure: only makes text, in whole lines of less than 80 columns. Texts that it is given must be printable and ASCII.
class Timeline {
 public:
  using Instant = base::Instant;

  Timeline(Look look, Instant beginning) : look_(look), beginning_(beginning) {}

  /// The beginning of an act, with both hosts away.
  std::string act(int number, std::string_view title, std::string_view explanation);
  /// What happened. Empty for what need not be told.
  std::string event(const Event& event);
  /// That time passes: the lanes without any event. Empty where there are no lanes.
  std::string tick(Instant now) const;
  /// What an act, or the whole, has shown; longer texts take more lines.
  std::string result(Mood mood, std::string_view text) const;
  std::string heading(std::string_view text) const;
  /// What the bars mean. Empty where there are no lanes.
  std::string legend() const;

 private:
  struct Lane {
    enum class Lock { none, held, left_behind };
    bool present = false;
    Lock lock = Lock::none;
  };

  void follow(const Event& event);
  /// One event of `host`.
  std::string rows(std::string time, HostId host, const std::vector<std::string>& lines, Mood mood) const;
  /// `a` and `b` side by side, each in its lane.
  std::string row(std::string_view time, std::string_view a, std::string_view b, Mood mood) const;
  std::string bar(const Lane& lane) const;
  std::string painted(std::string_view code, std::string_view text) const;
  std::string clock(Instant now) const;
  Lane& lane_of(HostId host) { return lanes_[static_cast<std::size_t>(host)]; }

  Look look_;
  Instant beginning_;
  std::array<Lane, 2> lanes_ = {};
};

/// The text in lines of at most `columns`, broken between words. A longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace holdfast::cli::demo
