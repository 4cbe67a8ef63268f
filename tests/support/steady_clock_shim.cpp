// Preloaded into a program: all its clocks are off by $HOLDFAST_CLOCK_SHIFT seconds, also those that nobody can set, as
// under libfaketime. The kernel's timers are not.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

// By the kernel's call, and without any function that a sanitizer replaces: it asks for the time before it is ready.
extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names in the system's headers are reserved.
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (environ == nullptr) return static_cast<int>(result);  // the program has not begun
  const char* shift = std::getenv("HOLDFAST_CLOCK_SHIFT");
  if (shift == nullptr) std::abort();  // a test that believes in its clock would be worth nothing
  const bool back = *shift == '-';
  long seconds = 0;
  for (shift += back ? 1 : 0; *shift != '\0'; ++shift) seconds = seconds * 10 + (*shift - '0');
  time->tv_sec += back ? -seconds : seconds;
  return static_cast<int>(result);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
