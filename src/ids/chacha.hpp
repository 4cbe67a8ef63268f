#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace holdfast::ids {

/// Calls `each` with 0, 1, ... as constants. In a loop that is not unrolled, vectors would not stay in registers.
template <std::size_t count, class Each>
[[gnu::always_inline]] inline void unrolled(Each each) {
  [&]<std::size_t... at>(std::index_sequence<at...>) {
    (each(std::integral_constant<std::size_t, at>()), ...);
  }(std::make_index_sequence<count>());
}

/// Four blocks of ChaCha at once, one in each lane of the compiler's vectors, which every processor has in some form.
struct ChaChaLanes {
  using Vector [[gnu::vector_size(16)]] = std::uint32_t;  // NOLINT(readability-identifier-naming)
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t words = 16;  // of a block

  Vector x[words];  // NOLINT(modernize-avoid-c-arrays): a vector as a template argument loses its attributes

  static Vector rotate(Vector value, int by) noexcept { return value << by | value >> (32 - by); }

  void quarter_round(std::size_t a, std::size_t b, std::size_t c, std::size_t d) noexcept {
    x[a] += x[b];
    x[d] = rotate(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotate(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotate(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotate(x[b] ^ x[c], 7);
  }
  void two_rounds() noexcept {
    quarter_round(0, 4, 8, 12);
    quarter_round(1, 5, 9, 13);
    quarter_round(2, 6, 10, 14);
    quarter_round(3, 7, 11, 15);
    quarter_round(0, 5, 10, 15);
    quarter_round(1, 6, 11, 12);
    quarter_round(2, 7, 8, 13);
    quarter_round(3, 4, 9, 14);
  }
};

/// Fills `out` with the key stream of ChaCha (RFC 8439 for 20 rounds), from block `counter` on. REQUIRES: out.size() is
/// a multiple of 256. `key` may be part of `out`.
template <int rounds>
void chacha(std::span<const std::byte, 32> key, std::uint32_t counter, const std::array<std::uint32_t, 3>& nonce,
            std::span<std::byte> out) noexcept {
  using L = ChaChaLanes;
  static_assert(rounds % 2 == 0);
  std::array<std::uint32_t, L::words> start = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  std::memcpy(&start[4], key.data(), key.size());
  std::copy(nonce.begin(), nonce.end(), start.begin() + 13);

  for (std::size_t at = 0; at != out.size(); at += L::lanes * sizeof(start), counter += L::lanes) {
    L first;  // NOLINT(cppcoreguidelines-pro-type-member-init): set in the next line
    unrolled<L::words>([&](auto i) { first.x[i] = L::Vector{start[i], start[i], start[i], start[i]}; });
    first.x[12] = L::Vector{counter, counter + 1, counter + 2, counter + 3};
    L mixed = first;
    for (int round = 0; round < rounds; round += 2) mixed.two_rounds();
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): set in the next lines
    std::array<std::array<std::uint32_t, L::words>, L::lanes> stream;
    unrolled<L::words>([&](auto i) {
      const L::Vector sum = mixed.x[i] + first.x[i];
      for (std::size_t lane = 0; lane < L::lanes; ++lane) stream[lane][i] = sum[lane];
    });
    std::memcpy(out.data() + at, &stream, sizeof(stream));
  }
}

}  // namespace holdfast::ids
