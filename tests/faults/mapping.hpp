#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <type_traits>
#include <utility>

namespace holdfast::faults {

/// A T in memory that several processes share through a descriptor. It begins as zeros, has no file name, and
/// outlives a process that is killed in the middle of a write to it. T has no pointers and needs no constructor.
template <class T>
class Mapping {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  /// New memory.
  Mapping() : Mapping(create()) {}
  /// What another process has shared; takes the descriptor.
  explicit Mapping(int fd) : fd_(fd) {
    memory_ = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  }
  ~Mapping() {
    if (memory_ != nullptr) munmap(memory_, sizeof(T));
    if (fd_ >= 0) close(fd_);
  }
  Mapping(Mapping&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), memory_(std::exchange(other.memory_, nullptr)) {}
  Mapping& operator=(Mapping&&) = delete;

  int fd() const { return fd_; }
  T& operator*() const { return *static_cast<T*>(memory_); }
  T* operator->() const { return static_cast<T*>(memory_); }

 private:
  static int create() {
    const int fd = memfd_create("holdfast-faults", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(T)) != 0) throw std::system_error(errno, std::generic_category(), "memfd");
    return fd;
  }

  int fd_;
  void* memory_ = nullptr;
};

}  // namespace holdfast::faults
