#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "holdfast/token.hpp"

namespace holdfast {

/// Checks tokens on behalf of a resource: it remembers the largest token that it has admitted and refuses smaller ones.
/// Keep one gate for each protected resource, in the process that owns the resource. The gate forgets everything when
/// that process ends, so a resource that outlives the process needs a guard that does, too: FileFence, FencedRegister,
/// or one of those in docs/fencing.md.
///
///     holdfast::FenceGate gate;
///     if (!gate.write(token, [&] { do_some_work(token); })) throw std::runtime_error("stale writer");
///
/// Equal tokens are admitted, because one holder may write more than once and readers of a SharedMutex may have equal
/// tokens. Thread-safe. One gate must only be used with tokens of one name.
class FenceGate {
 public:
  FenceGate() noexcept = default;
  /// Continues where another gate stopped, for example before a restart.
  explicit FenceGate(Token largest) noexcept : largest_(largest.value()) {}
  FenceGate(const FenceGate&) = delete;
  FenceGate& operator=(const FenceGate&) = delete;

  /// Returns true if the token is at least the largest one admitted so far, and remembers it. Never waits.
  ///
  /// This is only the check. A write that the caller makes afterwards is a second step, and between the two a larger
  /// token may be admitted and its write completed. The older write would then come last, which is exactly what a fence
  /// has to prevent. So admit() is enough only if nothing else can be admitted before the write is complete, for
  /// example because one thread does both for everybody. Otherwise use write().
  [[nodiscard]] bool admit(Token token) noexcept {
    std::uint64_t largest = largest_.load();
    while (token.value() >= largest) {
      if (largest_.compare_exchange_weak(largest, token.value())) return true;
    }
    return false;
  }

  /// Checks and writes in one step: calls `write` if the token is admitted, and lets no other write() begin before it
  /// has returned. Returns false, without calling `write`, if the token was refused. If `write` throws, the exception
  /// passes through and the token stays admitted. `write` must not call write() of the same gate. admit() does not wait
  /// for write(), so use only one of the two for a resource.
  template <class Write>
  [[nodiscard]] bool write(Token token, Write&& write) {
    const std::scoped_lock lock(writing_);
    if (!admit(token)) return false;
    std::forward<Write>(write)();
    return true;
  }

  /// The largest token admitted so far, or Token() if there was none.
  Token largest() const noexcept { return Token(largest_.load()); }

 private:
  std::atomic<std::uint64_t> largest_ = 0;
  std::mutex writing_;
};

}  // namespace holdfast
