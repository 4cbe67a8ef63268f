#pragma once

#include <cstdint>

namespace holdfast::bench {

/// How often the calling thread has called operator new, in this program, so far.
std::uint64_t allocations_of_this_thread() noexcept;

/// Weighs what is allocated by operator new and not freed while it exists, on all threads, with what malloc adds to it.
/// One at a time.
class HeapScale {
 public:
  HeapScale();
  ~HeapScale();
  HeapScale(const HeapScale&) = delete;
  HeapScale& operator=(const HeapScale&) = delete;

  /// Bytes, since the construction.
  std::int64_t growth() const;
};

}  // namespace holdfast::bench
