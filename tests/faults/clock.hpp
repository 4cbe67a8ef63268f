#pragma once

#include <ctime>

#include "sim/time.hpp"

namespace holdfast::faults {

using sim::Duration;
using sim::Moment;
using sim::never;
using std::chrono::milliseconds;

/// CLOCK_BOOTTIME: the same for all processes of the machine, and the one that the library counts leases on.
inline Moment now() {
  timespec time = {};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Moment(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace holdfast::faults
