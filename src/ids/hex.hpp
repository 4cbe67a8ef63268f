#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::ids {

/// Writes 8 digits, lower case. Eight digits at once, one in each byte of a word, are several times as fast as one by
/// one.
inline void write_hex(char* to, std::uint32_t value) noexcept {
  std::uint64_t digits = value;
  digits = (digits << 32 | digits >> 16) & 0x0000'ffff'0000'ffff;  // the first digit is to be in the lowest byte
  digits = (digits << 16 & 0x00ff'0000'00ff'0000) | (digits >> 8 & 0x0000'00ff'0000'00ff);
  digits = (digits << 8 & 0x0f00'0f00'0f00'0f00) | (digits >> 4 & 0x000f'000f'000f'000f);
  // A digit above 9 carries into the bit 4 when 6 is added; the letters begin 39 behind where the figures would go on.
  const std::uint64_t letters = (digits + 0x0606'0606'0606'0606) >> 4 & 0x0101'0101'0101'0101;
  digits += 0x3030'3030'3030'3030 + letters * ('a' - '0' - 10);
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap64(digits);
  std::memcpy(to, &digits, sizeof(digits));
}

/// For each character the value of the digit, in either case, or -1.
inline constexpr std::array<std::int16_t, 256> hex_values = [] {
  std::array<std::int16_t, 256> values{};
  for (auto& value : values) value = -1;
  for (int digit = 0; digit < 16; ++digit) {
    values[static_cast<unsigned char>("0123456789abcdef"[digit])] = static_cast<std::int16_t>(digit);
    values[static_cast<unsigned char>("0123456789ABCDEF"[digit])] = static_cast<std::int16_t>(digit);
  }
  return values;
}();

/// Reads `digits` into `value`. Returns false if one of them is none. REQUIRES: at most 16.
inline bool read_hex(std::string_view digits, std::uint64_t& value) noexcept {
  value = 0;
  int seen = 0;  // becomes negative with the first digit that is none
  for (const char digit : digits) {
    const int digit_value = hex_values[static_cast<unsigned char>(digit)];
    seen |= digit_value;
    value = value << 4 | static_cast<std::uint64_t>(digit_value & 15);
  }
  return seen >= 0;
}

}  // namespace holdfast::ids
