#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::sim {

/// Random numbers that depend on nothing but what they are made from (the splitmix64 generator).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  /// Dice for one event: the same seed, owner and counter throw the same numbers, whatever else happens.
  Dice(std::uint64_t seed, std::uint64_t owner, std::uint64_t counter)
      : state_(mix(mix(seed + golden * (owner + 1)) + golden * (counter + 1))) {}

  std::uint64_t next() { return mix(state_ += golden); }

  /// From 0 to n - 1. REQUIRES: n > 0.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U); }

  bool chance(std::uint32_t per_mille) { return below(1000) < per_mille; }

  /// From `low` to `high`.
  template <class Rep, class Period>
  std::chrono::duration<Rep, Period> between(std::chrono::duration<Rep, Period> low,
                                             std::chrono::duration<Rep, Period> high) {
    const auto span = static_cast<std::uint64_t>((high - low).count()) + 1;
    return low + std::chrono::duration<Rep, Period>(static_cast<Rep>(next() % span));
  }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace holdfast::sim
