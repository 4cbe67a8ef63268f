#pragma once

#include <chrono>
#include <cmath>
#include <type_traits>

namespace holdfast::detail {

/// Converts any duration to nanoseconds without overflow: what does not fit becomes the largest or the smallest value,
/// and "not a number" becomes zero. So `try_lock_for(hours::max())` waits for ever instead of not at all.
template <class Rep, class Period>
constexpr std::chrono::nanoseconds saturated(const std::chrono::duration<Rep, Period>& duration) {
  using std::chrono::nanoseconds;
  using Wide = std::chrono::duration<long double, std::nano>;
  const Wide wide = duration;
  if constexpr (std::is_floating_point_v<Rep>) {
    if (std::isnan(static_cast<long double>(duration.count()))) return nanoseconds::zero();
  }
  if (wide >= Wide(nanoseconds::max())) return nanoseconds::max();
  if (wide <= Wide(nanoseconds::min())) return nanoseconds::min();
  return std::chrono::duration_cast<nanoseconds>(duration);
}

/// The time from now to `deadline`, measured on the deadline's own clock. Zero if the deadline has passed.
template <class Clock, class Duration>
std::chrono::nanoseconds time_until(const std::chrono::time_point<Clock, Duration>& deadline) {
  const std::chrono::nanoseconds then = saturated(deadline.time_since_epoch());
  const std::chrono::nanoseconds now = saturated(Clock::now().time_since_epoch());
  if (then <= now) return std::chrono::nanoseconds::zero();
  const bool too_far = now < std::chrono::nanoseconds::zero() && then > std::chrono::nanoseconds::max() + now;
  return too_far ? std::chrono::nanoseconds::max() : then - now;
}

}  // namespace holdfast::detail
