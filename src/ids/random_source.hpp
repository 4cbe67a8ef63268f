#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.hpp"

namespace holdfast::ids {

/// Random numbers in stock, for one thread. It lives in memory that is all zeros in a forked child. That is the state of
/// an empty stock, and of a filler that has to ask the kernel for a seed first. So a child never repeats what its parent
/// had in stock, and no call has to ask whether there was a fork.
template <class Filler>
class RandomSource {
 public:
  /// Throws Errc::exhausted if the kernel has no random numbers.
  template <std::size_t words>
  std::array<std::uint64_t, words> take() {
    std::array<std::uint64_t, words> numbers{};
    if (left_ < sizeof(numbers)) left_ = filler_.refill();
    left_ -= sizeof(numbers);
    std::memcpy(&numbers, filler_.stock() + left_, sizeof(numbers));
    return numbers;
  }
  std::uint64_t next() { return take<1>()[0]; }

  /// Calls `use(take<words>())` `times` times. It is faster, because it leaves its own state alone meanwhile: a compiler
  /// has to believe that whoever writes ids may write there. Throws as take() does.
  template <std::size_t words, class Use>
  void supply(std::size_t times, Use use) {
    std::array<std::uint64_t, words> numbers{};
    while (times > 0) {
      if (left_ < sizeof(numbers)) left_ = filler_.refill();
      const std::size_t some = std::min(times, left_ / sizeof(numbers));
      left_ -= some * sizeof(numbers);
      times -= some;
      const std::byte* from = filler_.stock() + left_;
      for (std::size_t i = 0; i < some; ++i, from += sizeof(numbers)) {
        std::memcpy(&numbers, from, sizeof(numbers));
        use(numbers);
      }
    }
  }

 private:
  std::size_t left_ = 0;  ///< bytes of the stock that were not used, from its beginning
  Filler filler_;
};

/// Fills a stock with numbers that nobody can predict: the key stream of a cipher. Each refill replaces the key by the
/// stream's first bytes, so what was issued before cannot be computed from what is in memory, and every few refills the
/// kernel's random numbers are mixed in.
class CipherFiller {
 public:
  const std::byte* stock() const noexcept { return block_.data() + key_bytes; }
  /// Returns how many bytes there are. Throws Errc::exhausted if the kernel has no random numbers.
  std::size_t refill();

 private:
  static constexpr std::size_t key_bytes = 32;
  static constexpr std::size_t block_bytes = 3584;  // 14 times what ChaCha makes at once; all sources fit into a page
  static constexpr std::uint32_t refills_per_seed = 4;

  std::uint32_t refills_before_seed_ = 0;                      ///< until the kernel is asked again
  alignas(16) std::array<std::byte, block_bytes> block_ = {};  ///< the next key, and the stock
};

/// Fills a stock with numbers that can be predicted from some of them: xoshiro256**.
class FastFiller {
 public:
  const std::byte* stock() const noexcept { return reinterpret_cast<const std::byte*>(stock_.data()); }
  /// As that of CipherFiller.
  std::size_t refill();

 private:
  base::Random random_{base::Random::Seed{}};
  bool seeded_ = false;
  std::array<std::uint64_t, 32> stock_ = {};
};

using SecureSource = RandomSource<CipherFiller>;
using FastSource = RandomSource<FastFiller>;

enum class Cipher { aes, chacha };

/// What all secure sources of the process refill from: AES if the processor has it. Tests and benchmarks change it.
Cipher current_cipher() noexcept;
void use_cipher(Cipher cipher) noexcept;

}  // namespace holdfast::ids
