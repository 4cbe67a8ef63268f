// Preloaded into a program: all its clocks are off by $HOLDFAST_CLOCK_SHIFT seconds, also those that nobody can set, as
// under libfaketime; and from the first look on they go $HOLDFAST_CLOCK_RATE times as fast. The kernel's timers are and
// do not.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr clockid_t clocks = 16;

/// When each clock was looked at first.
std::atomic<std::int64_t> first_look[clocks];

std::int64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) std::abort();  // a test that believes in its clock would be worth nothing
  const bool negative = *text == '-';
  std::int64_t number = 0;
  for (text += negative ? 1 : 0; *text != '\0'; ++text) number = number * 10 + (*text - '0');
  return negative ? -number : number;
}

}  // namespace

// By the kernel's call, and without any function that a sanitizer replaces: it asks for the time before it is ready.
extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names in the system's headers are reserved.
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (environ == nullptr || result != 0) return static_cast<int>(result);  // the program has not begun
  std::int64_t now = time->tv_sec * second + time->tv_nsec;
  if (clock >= 0 && clock < clocks) {
    std::int64_t first = 0;
    if (first_look[clock].compare_exchange_strong(first, now)) first = now;
    now = first + (now - first) * number_in("HOLDFAST_CLOCK_RATE");
  }
  time->tv_sec = now / second + number_in("HOLDFAST_CLOCK_SHIFT");
  time->tv_nsec = now % second;
  return 0;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
