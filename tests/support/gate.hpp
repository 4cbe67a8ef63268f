#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "support/eventually.hpp"

namespace holdfast::test {

/// Something that threads wait for, in bounded time. Opened when destroyed, so that a failing test does not hang.
class Gate {
 public:
  Gate() = default;
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// False if it does not open.
  bool wait(std::chrono::milliseconds bound = patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [this] { return open_; });
  }
  /// As wait(), and closes it behind the one who got through.
  bool pass(std::chrono::milliseconds bound = patience) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, bound, [this] { return open_; })) return false;
    open_ = false;
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace holdfast::test
