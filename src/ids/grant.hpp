#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "holdfast/ids/snowflake_layout.hpp"

namespace holdfast::ids {

/// What one tenure of a worker number may issue: the positions from a start to a limit. A position is a tick and a
/// sequence number in one number, `tick << sequence_bits | sequence`.
///
/// Everything that a call needs is behind one pointer, and a call uses one grant throughout: a worker number that was
/// read beside the position of another tenure would repeat ids. A new tenure gets a new grant, and a grant that was
/// closed stays closed.
///
/// Lives in WipedMemory. In a forked child the limit is zero, so nothing is issued there.
class Grant {
 public:
  /// Larger than every limit.
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63U;

  /// `serial` is not 0, and no other grant of this process has it. REQUIRES: the start is not beyond the limit.
  Grant(std::uint64_t serial, std::uint32_t worker, std::uint64_t start, std::uint64_t limit)
      : next_(start), limit_(limit), serial_(serial), worker_(worker) {}

  std::uint32_t worker() const noexcept { return worker_; }
  /// 0 once it is closed, and in a forked child.
  std::uint64_t serial() const noexcept { return serial_.load(std::memory_order_relaxed); }

  /// The smallest position that was not issued; `closed` once the grant is closed. What is read afterwards, a clock
  /// above all, is not older.
  std::uint64_t next() const noexcept { return next_.load(std::memory_order_acquire); }
  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_acquire); }

  /// Takes the positions from `first` to before `end`. False if `next()` is no longer `seen`; then it tells what it is
  /// now. REQUIRES: seen <= first < end <= limit().
  bool take(std::uint64_t& seen, std::uint64_t end) noexcept {
    return next_.compare_exchange_weak(seen, end, std::memory_order_relaxed);
  }

  /// How many ticks the ids may be ahead of a clock that was set back.
  std::int64_t most_ahead() const noexcept { return most_ahead_.load(std::memory_order_relaxed); }
  void allow_ahead(std::int64_t ticks) noexcept { most_ahead_.store(ticks, std::memory_order_relaxed); }

  // For whoever keeps the worker number; one thread.

  /// Call this only after the store has acknowledged it.
  void raise_limit(std::uint64_t limit) noexcept { limit_.store(limit, std::memory_order_release); }

  /// Ends it: from now on nothing is issued. Returns the smallest position that was not issued, and from which on a
  /// successor may start. Lowering the limit instead would leave a call that has read the old one free to issue after
  /// the position was read.
  std::uint64_t close() noexcept {
    const std::uint64_t end = next_.exchange(closed);
    serial_.store(0, std::memory_order_relaxed);
    return end;
  }

 private:
  // What calls write, and what they only read.
  alignas(64) std::atomic<std::uint64_t> next_;
  alignas(64) std::atomic<std::uint64_t> limit_;
  std::atomic<std::uint64_t> serial_;
  std::atomic<std::int64_t> most_ahead_ = 0;
  std::uint32_t worker_;
};

/// Why nothing was issued, or that something was.
enum class Outcome : std::uint8_t {
  issued,
  spent,          ///< the sequence numbers of the current tick are used up; the next tick has more
  clock_is_back,  ///< the clock was set back by more than is allowed
  at_limit,       ///< the window ends here; in a forked child it has no length
  closed,         ///< this tenure is over
};

struct Issued {
  Outcome outcome = Outcome::closed;
  std::uint64_t position = 0;  ///< the first of those that were issued
};

/// Where in `tick` to begin if nothing was issued in it yet. Ids of a quiet generator would otherwise all be multiples of
/// 4,096, and fall into the same shard. A tick that follows a crowded one begins at its beginning, because there every
/// sequence number counts.
constexpr std::uint64_t beginning_of(std::uint64_t tick, std::uint64_t next, unsigned sequence_bits) noexcept {
  const std::uint64_t begin = tick << sequence_bits;
  const std::uint64_t sequences = std::uint64_t{1} << sequence_bits;
  if (next + sequences / 2 > begin) return begin;
  const std::uint64_t mixed = (tick * 0x9E3779B97F4A7C15U) >> 32U;
  return begin + mixed % std::max<std::uint64_t>(sequences / 4, 1);
}

/// The first of the `count` positions to issue if `next` is the smallest that was not issued and the clock shows `tick`.
constexpr std::uint64_t first_position(std::uint64_t next, std::uint64_t tick, unsigned sequence_bits,
                                       std::uint32_t count) noexcept {
  std::uint64_t first = next;
  if (const std::uint64_t begin = tick << sequence_bits; next <= begin) {
    const std::uint64_t latest = begin + (std::uint64_t{1} << sequence_bits) - count;
    first = std::min(beginning_of(tick, next, sequence_bits), latest);
  }
  // A batch lies in one tick, so that its ids are consecutive numbers.
  if (first >> sequence_bits != (first + count - 1) >> sequence_bits)
    first = ((first >> sequence_bits) + 1) << sequence_bits;
  return first;
}

/// Takes `count` consecutive positions of one tick from a grant.
///
/// `clock.coarse()` is a cheap look at the time, in ticks, which may be late by some milliseconds; `clock.exact()` is
/// not. The coarse one is enough until the ticks that it knows are spent: alone it would yield a quarter of what a
/// layout in milliseconds has.
///
/// REQUIRES: 0 < count <= layout.sequences().
template <class Clock>
Issued issue(Grant& grant, const SnowflakeLayout& layout, Clock& clock, std::uint32_t count) noexcept {
  const auto bits = static_cast<unsigned>(layout.fields().sequence_bits);
  // A tick that the layout does not have is beyond every limit.
  const auto bounded = [&](std::int64_t tick) {
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(tick, 0, layout.ticks()));
  };

  std::uint64_t next = grant.next();
  if (next < Grant::closed) {
    const std::uint64_t now = bounded(clock.coarse());
    const std::uint64_t first = first_position(next, now, bits, count);
    if (first >> bits <= now && first + count <= grant.limit() && grant.take(next, first + count)) {
      return {Outcome::issued, first};
    }
  }
  for (;;) {
    // The position first and the clock second, so that the clock is behind only if it was set back.
    next = grant.next();
    if (next >= Grant::closed) return {Outcome::closed};
    const std::uint64_t now = bounded(clock.exact());
    const std::uint64_t first = first_position(next, now, bits, count);
    if (first + count > grant.limit()) return {Outcome::at_limit};
    if (first >> bits > now) {
      const bool was_set_back = next != 0 && (next - 1) >> bits > now;
      if (!was_set_back) return {Outcome::spent};
      if (static_cast<std::int64_t>((first >> bits) - now) > grant.most_ahead()) return {Outcome::clock_is_back};
    }
    if (grant.take(next, first + count)) return {Outcome::issued, first};
  }
}

}  // namespace holdfast::ids
