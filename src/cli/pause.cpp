#include "cli/pause.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "base/file_descriptor.hpp"
#include "base/instant.hpp"

namespace holdfast::cli {

bool pause_for(std::chrono::milliseconds length, const std::stop_token& stop) {
  using std::chrono::milliseconds;
  const base::Instant end = base::end_of(length, base::BootClock::now());
  const base::FileDescriptor stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));  // without one it just takes longer
  const std::stop_callback wake(stop, [&] { ::eventfd_write(stopped.get(), 1); });
  pollfd wanted{.fd = stopped.get(), .events = POLLIN, .revents = 0};
  while (!stop.stop_requested()) {
    const auto left = std::chrono::ceil<milliseconds>(end - base::BootClock::now());
    if (left <= milliseconds::zero()) return true;
    constexpr milliseconds longest = std::chrono::hours(1);
    ::poll(&wanted, 1, static_cast<int>(std::min(left, longest).count()));
  }
  return false;
}

}  // namespace holdfast::cli
