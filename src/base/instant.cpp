#include "base/instant.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace holdfast::base {
namespace {

/// Whether something was loaded before the C library that answers for its clock, as libfaketime does. Leases are
/// compared between processes, and the kernel's timers run on its own clock: whoever believed in another one would take
/// locks that others hold, and sleep past its own deadlines. So the kernel itself is asked then, which takes longer.
bool clock_is_replaced() {
  Dl_info clock = {};
  Dl_info library = {};
  const bool known = dladdr(dlsym(RTLD_DEFAULT, "clock_gettime"), &clock) != 0 &&
                     dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &library) != 0;
  return !known || clock.dli_fbase != library.dli_fbase;
}

}  // namespace

BootClock::time_point BootClock::now() noexcept {
  static const bool ask_the_kernel = clock_is_replaced();
  timespec time = {};  // cannot fail: Linux has had this clock since 2.6.39
  if (ask_the_kernel) {
    syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &time);
  } else {
    clock_gettime(CLOCK_BOOTTIME, &time);
  }
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace holdfast::base
