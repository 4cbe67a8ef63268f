#include "backends/redis/protocol/script.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace holdfast::redis {
namespace {

using State = std::array<std::uint32_t, 5>;

/// FIPS 180-4, 6.1.2.
void digest_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 80> words = {};
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = 0;
    for (std::size_t j = 0; j < 4; ++j) words[i] = words[i] << 8U | static_cast<unsigned char>(block[4 * i + j]);
  }
  for (std::size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t mixed = 0;
    if (i < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999U;
    } else if (i < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1U;
    } else if (i < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6U;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned shift = 64; shift > 0;) {
    shift -= 8;
    padded += static_cast<char>(bits >> shift & 0xffU);
  }
  State state = {0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  for (std::size_t at = 0; at < padded.size(); at += 64) digest_block(state, std::string_view(padded).substr(at, 64));

  constexpr std::string_view digits = "0123456789abcdef";
  std::string digest;
  for (const std::uint32_t word : state) {
    for (unsigned shift = 32; shift > 0;) {
      shift -= 4;
      digest += digits[word >> shift & 15U];
    }
  }
  return digest;
}

Script::Script(std::initializer_list<std::string_view> parts, std::span<const Constant> constants) {
  for (std::string_view part : parts) {
    for (std::size_t at = part.find('$'); at != std::string_view::npos; at = part.find('$')) {
      const std::size_t end = std::min(part.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1), part.size());
      const auto constant = std::ranges::find(constants, part.substr(at + 1, end - at - 1), &Constant::name);
      text_.append(part.substr(0, at));
      text_.append(constant == constants.end() ? part.substr(at, end - at) : constant->value);
      part.remove_prefix(end);
    }
    text_.append(part);
  }
  digest_ = sha1(text_);
}

}  // namespace holdfast::redis
