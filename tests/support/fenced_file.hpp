#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace holdfast::test {

/// A resource that several processes write to: a file with the largest token it has seen. A write with a smaller one
/// is refused.
class FencedFile {
 public:
  explicit FencedFile(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_ < 0 || flock(fd_, LOCK_EX) != 0) throw std::system_error(errno, std::generic_category(), path);
  }
  ~FencedFile() { close(fd_); }
  FencedFile(const FencedFile&) = delete;
  FencedFile& operator=(const FencedFile&) = delete;

  /// False: refused.
  bool write(std::uint64_t token) const {
    std::uint64_t largest = 0;
    if (pread(fd_, &largest, sizeof largest, 0) == sizeof largest && token < largest) return false;
    return pwrite(fd_, &token, sizeof token, 0) == sizeof token;
  }

 private:
  int fd_;
};

}  // namespace holdfast::test
