#pragma once

#include <chrono>

namespace holdfast::cli {

/// The clock that leases run on: it goes on while the machine sleeps, and nobody sets it. It is the kernel's, also
/// where something like libfaketime answers for the C library's clocks.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now();
};

/// Arms a timerfd on that clock, absolutely.
void set_timer(int descriptor, BootClock::time_point due);

}  // namespace holdfast::cli
