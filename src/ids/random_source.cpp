#include "ids/random_source.hpp"

#include <array>
#include <atomic>
#include <span>

#include "ids/aes.hpp"
#include "ids/chacha.hpp"

namespace holdfast::ids {
namespace {

std::atomic<Cipher>& chosen() noexcept {
  static std::atomic<Cipher> cipher{has_aes() ? Cipher::aes : Cipher::chacha};
  return cipher;
}

}  // namespace

Cipher current_cipher() noexcept { return chosen().load(std::memory_order_relaxed); }
void use_cipher(Cipher cipher) noexcept { chosen().store(cipher, std::memory_order_relaxed); }

std::size_t CipherFiller::refill() {
  const std::span<std::byte, block_bytes> block(block_);
  const auto key = block.first<key_bytes>();
  if (refills_before_seed_ == 0) {
    const base::Random::Seed seed = base::Random::fresh_seed();
    static_assert(sizeof(seed) == key_bytes);
    const auto fresh = std::as_bytes(std::span(seed));
    for (std::size_t i = 0; i < key_bytes; ++i) key[i] ^= fresh[i];
    refills_before_seed_ = refills_per_seed;
  }
  --refills_before_seed_;
  if (current_cipher() == Cipher::aes) {
    aes128_ctr(key.first<16>(), key.last<16>(), block);
  } else {
    chacha<12>(key, 0, {}, block);  // every key is used once, so counter and nonce may begin anew
  }
  return block_bytes - key_bytes;
}

std::size_t FastFiller::refill() {
  base::Random random = seeded_ ? random_ : base::Random(base::Random::fresh_seed());
  for (std::uint64_t& number : stock_) number = random.next();
  random_ = random;
  seeded_ = true;
  return sizeof(stock_);
}

}  // namespace holdfast::ids
