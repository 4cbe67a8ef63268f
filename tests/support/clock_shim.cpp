// Preloaded into a server: its time of day is off by what the first 8 bytes of the file $HOLDFAST_CLOCK_FILE say, in
// nanoseconds, and follows when a test changes them (server_clock.hpp). Clocks that nobody can set stay as they are.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

// By the kernel's calls, and without any function that a sanitizer replaces: it asks for the time before it is ready.
namespace {

using Offset = std::atomic<std::int64_t>;

constexpr std::int64_t second = 1'000'000'000;

Offset* map_offset() {
  const char* const file = std::getenv("HOLDFAST_CLOCK_FILE");
  const long descriptor = file == nullptr ? -1 : syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) std::abort();  // a test that believes in its clock would be worth nothing
  const long memory = syscall(SYS_mmap, nullptr, sizeof(Offset), PROT_READ, MAP_SHARED, descriptor, 0);
  syscall(SYS_close, descriptor);
  if (memory == -1) std::abort();
  return reinterpret_cast<Offset*>(memory);
}

std::int64_t offset() {
  if (environ == nullptr) return 0;  // the program has not begun
  static std::atomic<Offset*> mapped{nullptr};
  Offset* known = mapped.load();
  if (known == nullptr) mapped = known = map_offset();  // twice does no harm
  return known->load();
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the names in the system's headers are reserved.
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const std::int64_t shifted = time->tv_sec * second + time->tv_nsec + offset();
  time->tv_sec = shifted / second;
  time->tv_nsec = shifted % second;
  return result;
}

__attribute__((visibility("default"))) int gettimeofday(timeval* __restrict time, void* __restrict) noexcept {
  timespec precise = {};
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  time->tv_sec = precise.tv_sec;
  time->tv_usec = precise.tv_nsec / 1000;
  return result;
}

__attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  timespec precise = {};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out != nullptr) *out = precise.tv_sec;
  return precise.tv_sec;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"
