#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace holdfast::base {

/// Fast random numbers (the xoshiro256** generator), for ids and jitter; also for the distributions of <random>.
class Random {
 public:
  using result_type = std::uint64_t;  // NOLINT(readability-identifier-naming): the standard's name
  using Seed = std::array<std::uint64_t, 4>;

  /// REQUIRES: not all zero.
  explicit Random(const Seed& seed) : state_(seed) {}

  /// 256 bits from the kernel. Throws Errc::exhausted if it has none.
  static Seed fresh_seed();

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return next(); }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  Seed state_;
};

}  // namespace holdfast::base
