#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace holdfast::core {

/// Puts its own thread to sleep until another thread gives it a reason to wake up. Reasons add up until they are taken.
///
/// A futex and not a condition variable, because the woken thread then needs no mutex: what it waits for has been
/// written before, and a local hand-over costs one wake-up and nothing else.
class Parker {
 public:
  /// This thread's. It outlives every wait(), so a wake() that comes late touches no dead stack frame.
  static Parker& mine() {
    thread_local Parker parker;
    return parker;
  }

  /// Sleeps until there are reasons, and takes them.
  std::uint32_t wait() {
    for (;;) {
      if (const std::uint32_t reasons = reasons_.exchange(0, std::memory_order_acquire)) return reasons;
      ::syscall(SYS_futex, &reasons_, FUTEX_WAIT_PRIVATE, 0U, nullptr, nullptr, 0U);
    }
  }

  /// From any thread.
  void wake(std::uint32_t reason) {
    reasons_.fetch_or(reason, std::memory_order_release);
    ::syscall(SYS_futex, &reasons_, FUTEX_WAKE_PRIVATE, 1U, nullptr, nullptr, 0U);
  }

 private:
  std::atomic<std::uint32_t> reasons_{0};
  static_assert(sizeof(reasons_) == sizeof(std::uint32_t));
};

}  // namespace holdfast::core
