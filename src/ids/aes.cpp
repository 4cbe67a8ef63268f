#include "ids/aes.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstdlib>
#include <utility>

namespace holdfast::ids {

#ifdef __x86_64__

namespace {

using Block = __m128i;
constexpr std::size_t rounds = 10;

Block* block_at(std::byte* bytes) { return reinterpret_cast<Block*>(bytes); }
const Block* block_at(const std::byte* bytes) { return reinterpret_cast<const Block*>(bytes); }

/// The round key after `key` (FIPS 197, section 5.2).
template <int round_constant>
[[gnu::target("aes")]] Block next_round_key(Block key) {
  const Block word = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, round_constant), 0xff);
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
  return _mm_xor_si128(key, word);
}

struct RoundKeys {
  Block each[rounds + 1];  // NOLINT(modernize-avoid-c-arrays): a vector as a template argument loses its attributes
};

[[gnu::target("aes")]] RoundKeys round_keys(Block key) {
  RoundKeys result;  // NOLINT(cppcoreguidelines-pro-type-member-init): set below
  Block* const keys = result.each;
  keys[0] = key;
  keys[1] = next_round_key<0x01>(keys[0]);
  keys[2] = next_round_key<0x02>(keys[1]);
  keys[3] = next_round_key<0x04>(keys[2]);
  keys[4] = next_round_key<0x08>(keys[3]);
  keys[5] = next_round_key<0x10>(keys[4]);
  keys[6] = next_round_key<0x20>(keys[5]);
  keys[7] = next_round_key<0x40>(keys[6]);
  keys[8] = next_round_key<0x80>(keys[7]);
  keys[9] = next_round_key<0x1b>(keys[8]);
  keys[10] = next_round_key<0x36>(keys[9]);
  return result;
}

constexpr std::size_t at_once = 8;  // as many as the processor works on at the same time

struct Blocks {
  Block each[at_once];  // NOLINT(modernize-avoid-c-arrays): as above
};

// What is done to all blocks is written out by a fold: in a loop that is not unrolled they would not stay in registers.

template <std::size_t... at>
[[gnu::target("aes")]] void begin(Blocks& blocks, Block counter, Block key, std::index_sequence<at...>) {
  ((blocks.each[at] = _mm_xor_si128(counter + Block{at, 0}, key)), ...);
}

template <std::size_t... at>
[[gnu::target("aes")]] void encrypt(Blocks& blocks, Block key, std::index_sequence<at...>) {
  ((blocks.each[at] = _mm_aesenc_si128(blocks.each[at], key)), ...);
}

template <std::size_t... at>
[[gnu::target("aes")]] void end(const Blocks& blocks, Block key, Block* to, std::index_sequence<at...>) {
  (_mm_storeu_si128(to + at, _mm_aesenclast_si128(blocks.each[at], key)), ...);
}

}  // namespace

bool has_aes() noexcept {
  static const bool has = __builtin_cpu_supports("aes") != 0;
  return has;
}

[[gnu::target("aes")]] void aes128_ctr(std::span<const std::byte, 16> key, std::span<const std::byte, 16> counter,
                                       std::span<std::byte> out) noexcept {
  constexpr auto all = std::make_index_sequence<at_once>();
  const RoundKeys keys = round_keys(_mm_loadu_si128(block_at(key.data())));
  Block next = _mm_loadu_si128(block_at(counter.data()));
  for (std::byte* to = out.data(); to != out.data() + out.size(); to += at_once * sizeof(Block)) {
    Blocks blocks;  // NOLINT(cppcoreguidelines-pro-type-member-init): begin() sets it
    begin(blocks, next, keys.each[0], all);
    next += Block{at_once, 0};
    for (std::size_t round = 1; round < rounds; ++round) encrypt(blocks, keys.each[round], all);
    end(blocks, keys.each[rounds], block_at(to), all);
  }
}

#else

bool has_aes() noexcept { return false; }

void aes128_ctr(std::span<const std::byte, 16>, std::span<const std::byte, 16>, std::span<std::byte>) noexcept {
  std::abort();  // has_aes() is required
}

#endif

}  // namespace holdfast::ids
