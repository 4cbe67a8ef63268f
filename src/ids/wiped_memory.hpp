#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::ids {

/// Memory that is all zeros in a forked child, whatever it contained in the parent. What a generator may still issue
/// lives here, so a child issues nothing without a check in every call: its limits are zero.
///
/// The kernel wipes the pages (MADV_WIPEONFORK), for every way in which a process can be copied. Where it does not know
/// how, a handler of pthread_atfork() does, which only fork() calls.
class WipedMemory {
 public:
  enum class WipedBy { kernel, atfork_handler };

  /// Throws Errc::exhausted.
  explicit WipedMemory(WipedBy preferred = WipedBy::kernel);
  ~WipedMemory();
  WipedMemory(const WipedMemory&) = delete;
  WipedMemory& operator=(const WipedMemory&) = delete;

  /// False in a process that is a copy of the one in which this was made.
  bool belongs_to_this_process() const noexcept { return alive_->load(std::memory_order_relaxed); }

  /// An object that lives as long as this does. A child sees zeros in it, so that must be a state that does no harm.
  /// Throws Errc::exhausted. Not thread-safe.
  template <class T, class... Args>
  T& make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return *::new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t block_bytes = 4096;
  struct Block;

  void* allocate(std::size_t bytes, std::size_t alignment);

  const WipedBy preferred_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t used_ = block_bytes;  ///< of the last block
  std::atomic<bool>* alive_ = nullptr;
};

}  // namespace holdfast::ids
