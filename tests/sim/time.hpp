#pragma once

#include <chrono>
#include <cstdint>

#include "base/instant.hpp"

namespace holdfast::sim {

using base::Duration;
using base::Instant;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The one true time of a simulated history. Nobody in it can read it; clients and the store read clocks.
struct WorldTime {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WorldTime>;
  static constexpr bool is_steady = true;
};
using Moment = WorldTime::time_point;
inline constexpr Moment never = Moment::max();

/// A clock that is set differently from others and runs a little too fast or too slow.
class Clock {
 public:
  Clock() = default;
  Clock(Duration start, std::int64_t parts_per_million) : start_(start.count()), ppm_(parts_per_million) {}

  Instant read(Moment moment) const { return Instant(Duration(read(moment.time_since_epoch().count()))); }

  /// The first moment at which the clock reads `instant` or more.
  Moment when(Instant instant) const {
    const std::int64_t reading = instant.time_since_epoch().count();
    if (reading - start_ > end_of_time) return never;
    std::int64_t moment = (reading - start_) * million / (million + ppm_);
    while (read(moment) < reading) ++moment;
    while (read(moment - 1) >= reading) --moment;
    return Moment(Duration(moment));
  }

 private:
  static constexpr std::int64_t million = 1'000'000;
  static constexpr std::int64_t end_of_time = 1'000'000'000'000;  // 1,000 s: no history is that long

  std::int64_t read(std::int64_t moment) const { return start_ + moment + moment * ppm_ / million; }

  std::int64_t start_ = 0;
  std::int64_t ppm_ = 0;
};

}  // namespace holdfast::sim
