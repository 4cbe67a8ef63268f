#include "spi/instant.hpp"

#include <ctime>

namespace holdfast::spi {

BootClock::time_point BootClock::now() noexcept {
  timespec time = {};
  clock_gettime(CLOCK_BOOTTIME, &time);  // cannot fail: Linux has had this clock since 2.6.39
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace holdfast::spi
