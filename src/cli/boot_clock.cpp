#include "cli/boot_clock.hpp"

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ctime>

namespace holdfast::cli {

BootClock::time_point BootClock::now() {
  timespec time{};
  ::syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

void set_timer(int descriptor, BootClock::time_point due) {
  constexpr BootClock::rep second = 1'000'000'000;
  const BootClock::rep nanoseconds = due.time_since_epoch().count();
  itimerspec wanted{};
  wanted.it_value = {.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
  ::syscall(SYS_timerfd_settime, descriptor, TFD_TIMER_ABSTIME, &wanted, nullptr);
}

}  // namespace holdfast::cli
