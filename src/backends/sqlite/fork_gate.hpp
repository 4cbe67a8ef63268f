#pragma once

#include "base/file_descriptor.hpp"

namespace holdfast::sqlite {

/// Keeps fork() and SQLite apart.
///
/// A forked child inherits SQLite's idea of which file locks the process has, but not the locks. A database that it
/// then opens would be damaged. So everything that is open is closed before a fork, and opened again by the parent when
/// it next needs it; the child starts with nothing. Descriptors whose closing tells others that this process has died
/// are closed in the child, where nobody would ever close them.
class ForkGate {
 public:
  /// Nothing forks while one exists. Held around everything that touches a database or makes a private descriptor.
  /// Not for long, and not twice by one thread: a fork waits for it.
  class Use {
   public:
    Use();
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  /// Something that must not be open while the process forks.
  class Member {
   public:
    virtual ~Member() = default;
    virtual void close_before_fork() noexcept = 0;
    virtual void forget_in_child() noexcept {}
  };
  static void join(Member& member);
  static void leave(Member& member);
};

/// A descriptor that forked children do not keep. REQUIRES: a ForkGate::Use while it is made.
class PrivateDescriptor {
 public:
  PrivateDescriptor() = default;
  explicit PrivateDescriptor(int descriptor);
  PrivateDescriptor(PrivateDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PrivateDescriptor& operator=(PrivateDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~PrivateDescriptor();

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

}  // namespace holdfast::sqlite
