#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::ids {

/// Positions that one thread has taken and not issued yet, so that threads do not meet at each id.
///
/// A thread's memory is copied when the process forks, so a stock is good only as long as its grant has the serial
/// number with which it was taken: a forked child reads zero there.
struct ThreadStock {
  std::uint64_t serial = 0;  ///< of the grant
  std::uint64_t next = 0;
  std::uint64_t end = 0;
  std::int64_t tick = 0;
  std::uint32_t worker = 0;

  /// The stock of the calling thread for one of the generators. There are few of them: generators that share one take
  /// each other's away, which costs ids and repeats none.
  static ThreadStock& of(std::size_t generator) noexcept {
    static constexpr std::size_t generators = 4;
    static thread_local std::array<ThreadStock, generators> stocks;
    return stocks[generator % generators];
  }
};

}  // namespace holdfast::ids
