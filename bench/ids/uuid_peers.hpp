#pragma once

#include <chrono>
#include <cstdint>

#include "holdfast/ids/uuid.hpp"
#include "ids/random_source.hpp"

namespace holdfast::bench {

/// UUIDs of version 7 as Boost 1.86 and later make them (Debian 12 has 1.74, which has none), written after its
/// documentation: microseconds of the exact clock and 6 bits that count, and ChaCha12. It takes the vectorised cipher of
/// this library, so it is no slower than Boost's own. One thread only, no care for forks, and not in order when the
/// clock is set back.
class MicrosecondUuid7 {
 public:
  MicrosecondUuid7() { ids::use_cipher(ids::Cipher::chacha); }
  ~MicrosecondUuid7() { ids::use_cipher(before_); }
  MicrosecondUuid7(const MicrosecondUuid7&) = delete;
  MicrosecondUuid7& operator=(const MicrosecondUuid7&) = delete;

  ids::Uuid operator()() {
    using std::chrono::floor;
    using std::chrono::microseconds;
    const auto now = floor<microseconds>(std::chrono::system_clock::now()).time_since_epoch().count();
    const auto time = static_cast<std::uint64_t>(now);
    const std::uint64_t place = (time / 1'000 << 16) | (time % 1'000 << 6);
    const bool set_back = place >> 16 < last_ >> 16;
    last_ = place > last_ || set_back ? place : last_ + 1;
    constexpr std::uint64_t random_bits = (std::uint64_t{1} << 56) - 1;
    return {last_ >> 16 << 16 | 0x7000 | (last_ & 0xffff) >> 6,
            std::uint64_t{2} << 62 | (last_ & 0x3f) << 56 | (random_.next() & random_bits)};
  }

 private:
  const ids::Cipher before_ = ids::current_cipher();
  ids::SecureSource random_;
  std::uint64_t last_ = 0;
};

}  // namespace holdfast::bench
