#pragma once

#include <fcntl.h>
#include <poll.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

namespace holdfast::test {

/// The descriptors that this process has open.
inline std::set<int> open_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string text = entry.path().filename().string();
    int descriptor = -1;
    std::from_chars(text.data(), text.data() + text.size(), descriptor);
    found.insert(descriptor);
  }
  // The listing's own descriptor is closed by now.
  std::erase_if(found, [](int descriptor) { return fcntl(descriptor, F_GETFD) < 0; });
  return found;
}

inline bool closes_on_exec(int descriptor) { return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0; }

/// The number of threads of this process.
inline std::size_t thread_count() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

inline bool is_readable(int descriptor) {
  pollfd wanted = {.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, 0) == 1 && (wanted.revents & POLLIN) != 0;
}

}  // namespace holdfast::test
