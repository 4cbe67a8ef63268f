#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "holdfast/token.hpp"

namespace holdfast {

/// The checking side of a Token, in memory: remembers the largest token it has admitted and refuses smaller ones. One
/// for each protected resource, in the process that owns the resource; it forgets when that process ends, so a resource
/// that outlives it needs a guard that does, too: FileFence, FencedRegister, or docs/fencing.md.
///
///     holdfast::FenceGate gate;
///     if (!gate.write(token, [&] { do_some_work(token); })) throw std::runtime_error("stale writer");
///
/// Equal tokens are admitted: one holder writes more than once, and readers of a SharedMutex may have equal tokens.
/// Thread-safe. Tokens of different names must not meet at one gate.
class FenceGate {
 public:
  FenceGate() noexcept = default;
  /// Goes on where another gate was, such as one before a restart.
  explicit FenceGate(Token largest) noexcept : largest_(largest.value()) {}
  FenceGate(const FenceGate&) = delete;
  FenceGate& operator=(const FenceGate&) = delete;

  /// True if the token is at least the largest admitted so far, which it then is. Never waits.
  ///
  /// This is the check and no more. What the caller writes after it is a second step, and between the two a larger
  /// token may be admitted and its write done: then the older write comes last, which is what a fence is to prevent.
  /// Enough by itself only if nothing else can be admitted before the write is done, for example because one thread
  /// does all of both. Otherwise: write().
  [[nodiscard]] bool admit(Token token) noexcept {
    std::uint64_t largest = largest_.load();
    while (token.value() >= largest) {
      if (largest_.compare_exchange_weak(largest, token.value())) return true;
    }
    return false;
  }

  /// Check and write in one step: runs `write` if the token is admitted, and no other write() before it has returned.
  /// False: refused, and not run. If it throws, the exception passes through and the token stays admitted. It must not
  /// call write() of the same gate. admit() does not wait for it: use only one of the two for a resource.
  template <class Write>
  [[nodiscard]] bool write(Token token, Write&& write) {
    const std::scoped_lock lock(writing_);
    if (!admit(token)) return false;
    std::forward<Write>(write)();
    return true;
  }

  /// The largest token admitted so far; Token() if there was none.
  Token largest() const noexcept { return Token(largest_.load()); }

 private:
  std::atomic<std::uint64_t> largest_ = 0;
  std::mutex writing_;
};

}  // namespace holdfast
