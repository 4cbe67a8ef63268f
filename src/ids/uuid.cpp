#include "holdfast/ids/uuid.hpp"

#include "ids/hex.hpp"

namespace holdfast::ids {

std::optional<Uuid> Uuid::parse(std::string_view text) noexcept {
  if (text.size() != text_length) return std::nullopt;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return std::nullopt;
  std::uint64_t time_low = 0;
  std::uint64_t time_mid = 0;
  std::uint64_t time_high = 0;
  std::uint64_t sequence = 0;
  std::uint64_t node = 0;
  if (!read_hex(text.substr(0, 8), time_low) || !read_hex(text.substr(9, 4), time_mid) ||
      !read_hex(text.substr(14, 4), time_high) || !read_hex(text.substr(19, 4), sequence) ||
      !read_hex(text.substr(24), node)) {
    return std::nullopt;
  }
  return Uuid(time_low << 32 | time_mid << 16 | time_high, sequence << 48 | node);
}

std::to_chars_result to_chars(char* first, char* last, const Uuid& uuid) noexcept {
  if (last - first < static_cast<std::ptrdiff_t>(Uuid::text_length)) return {last, std::errc::value_too_large};
  const std::uint64_t high = uuid.high();
  const std::uint64_t low = uuid.low();
  std::array<char, 32> digits{};
  write_hex(digits.data(), static_cast<std::uint32_t>(high >> 32));
  write_hex(digits.data() + 8, static_cast<std::uint32_t>(high));
  write_hex(digits.data() + 16, static_cast<std::uint32_t>(low >> 32));
  write_hex(digits.data() + 24, static_cast<std::uint32_t>(low));
  std::memcpy(first, digits.data(), 8);
  std::memcpy(first + 9, digits.data() + 8, 4);
  std::memcpy(first + 14, digits.data() + 12, 4);
  std::memcpy(first + 19, digits.data() + 16, 4);
  std::memcpy(first + 24, digits.data() + 20, 12);
  for (const int hyphen : {8, 13, 18, 23}) first[hyphen] = '-';
  return {first + Uuid::text_length, std::errc()};
}

std::string to_string(const Uuid& uuid) {
  std::string text(Uuid::text_length, '\0');
  to_chars(text.data(), text.data() + text.size(), uuid);
  return text;
}

}  // namespace holdfast::ids
