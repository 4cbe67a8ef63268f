#pragma once

#include <cstdint>

#include "holdfast/ids/uuid.hpp"

/// The place of a UUID of version 7 in the order of its generator, in one word, so that it can be advanced atomically:
/// 44 bits of milliseconds since 1970, and a counter within the millisecond. 0 is a generator that has made none.
///
///     | 48 bits: milliseconds | 4: version | 12: counter, high | 2: variant | 8: counter, low | 54: random |
namespace holdfast::ids::uuid7_place {

inline constexpr int counter_bits = 20;
inline constexpr std::uint64_t counters = std::uint64_t{1} << counter_bits;
/// There are no ids in this millisecond, or later: it is in the year 2527.
inline constexpr std::uint64_t end_milliseconds = std::uint64_t{1} << (64 - counter_bits);
/// The most places that are taken at once: they fit into any new millisecond.
inline constexpr std::uint64_t most_at_once = 4096;

constexpr std::uint64_t milliseconds(std::uint64_t place) noexcept { return place >> counter_bits; }
constexpr std::uint64_t counter(std::uint64_t place) noexcept { return place & (counters - 1); }

/// The first of `count` places that are all above `last`, or 0 if there are no more. `now` moves them to a new
/// millisecond, but never back; they also move on when the counter of the last millisecond cannot take them. `random()`
/// returns 64 random bits, and is called only when a millisecond begins: its counter then begins below a half, which
/// leaves another half to count on. REQUIRES: 0 < count <= most_at_once.
template <class Random>
constexpr std::uint64_t after(std::uint64_t last, std::uint64_t now, std::uint64_t count, Random random) {
  const auto begin = [&](std::uint64_t millisecond) {
    if (millisecond >= end_milliseconds) return std::uint64_t{0};
    return millisecond << counter_bits | random() % (counters / 2);
  };
  if (now > milliseconds(last)) return begin(now);
  if (counter(last) + count >= counters) return begin(milliseconds(last) + 1);
  return last + 1;
}

/// The UUID at a place. `random` has 54 bits that count, the highest ones.
constexpr Uuid uuid(std::uint64_t place, std::uint64_t random) noexcept {
  constexpr std::uint64_t version = 7U << 12;
  constexpr std::uint64_t variant = std::uint64_t{2} << 62;
  const std::uint64_t count = counter(place);
  return {milliseconds(place) << 16 | version | count >> 8, variant | (count & 0xff) << 54 | random >> 10};
}

/// The place of a UUID that a generator has made.
constexpr std::uint64_t of(const Uuid& made) noexcept {
  return made.high() >> 16 << counter_bits | (made.high() & 0xfff) << 8 | (made.low() >> 54 & 0xff);
}

}  // namespace holdfast::ids::uuid7_place
