#pragma once

#include <algorithm>
#include <chrono>

namespace holdfast::base {

/// Time on CLOCK_BOOTTIME: steady, the same in all processes of a host, and it runs on while the machine sleeps.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};

using Instant = BootClock::time_point;
using Duration = std::chrono::nanoseconds;

/// `instant + duration`, or the end of time.
constexpr Instant saturating_add(Instant instant, Duration duration) {
  if (duration > Duration::zero() && instant > Instant::max() - duration) return Instant::max();
  return instant + duration;
}

/// When something ends that begins at `from` and lasts for `length`, or the end of time.
constexpr Instant end_of(std::chrono::milliseconds length, Instant from) {
  constexpr auto longest = std::chrono::floor<std::chrono::milliseconds>(Duration::max());
  return saturating_add(from, std::min(length, longest));
}

}  // namespace holdfast::base
