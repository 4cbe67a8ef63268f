#pragma once

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/instant.hpp"

namespace holdfast::base {

/// Makes a timerfd of CLOCK_BOOTTIME readable at `due`; never, if that is the end of time.
inline void set_timer(int descriptor, Instant due) noexcept {
  itimerspec when{};
  if (due != Instant::max()) {
    const auto since_boot = std::max(due.time_since_epoch(), Duration(1));  // zero would disarm it
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    when.it_value.tv_sec = seconds.count();
    when.it_value.tv_nsec = (since_boot - seconds).count();
  }
  // Not through the C library, where libfaketime and its like would shift the time (base/instant.cpp).
  ::syscall(SYS_timerfd_settime, descriptor, TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace holdfast::base
