#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace holdfast::core {

/// Fast random numbers (the xoshiro256** generator), for claim ids and jitter.
class Random {
 public:
  using Seed = std::array<std::uint64_t, 4>;

  /// REQUIRES: not all zero.
  explicit Random(const Seed& seed) : state_(seed) {}

  /// 256 bits from the kernel.
  static Seed fresh_seed();

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

}  // namespace holdfast::core
