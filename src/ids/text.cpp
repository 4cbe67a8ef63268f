#include "holdfast/ids/text.hpp"

#include <array>
#include <limits>

#include "ids/hex.hpp"

namespace holdfast::ids {
namespace {

constexpr std::string_view base62_alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view crockford_alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// For each character its value, or -1.
using Values = std::array<std::int16_t, 256>;

constexpr Values values_of(std::string_view alphabet) {
  Values values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int16_t>(i);
  }
  return values;
}

/// As Crockford wants them read: in either case, and with the letters that look like figures.
constexpr Values crockford_values() {
  Values values = values_of(crockford_alphabet);
  for (const char digit : crockford_alphabet) {
    if (digit >= 'A') values[static_cast<unsigned char>(digit - 'A' + 'a')] = values[static_cast<unsigned char>(digit)];
  }
  for (const char one : {'I', 'i', 'L', 'l'}) values[static_cast<unsigned char>(one)] = 1;
  for (const char zero : {'O', 'o'}) values[static_cast<unsigned char>(zero)] = 0;
  return values;
}

/// A form of a fixed length. The base is a constant, so that the compiler multiplies instead of dividing.
template <std::uint64_t base, std::size_t digits>
void write(char* to, std::uint64_t id, std::string_view alphabet) noexcept {
  for (std::size_t i = digits; i-- > 0; id /= base) to[i] = alphabet[id % base];
}

template <std::uint64_t base, std::size_t digits>
std::optional<std::uint64_t> read(std::string_view text, const Values& values) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (text.size() != digits) return std::nullopt;
  std::uint64_t id = 0;
  for (const char digit : text) {
    const int value = values[static_cast<unsigned char>(digit)];
    if (value < 0 || id > (most - static_cast<std::uint64_t>(value)) / base) return std::nullopt;
    id = id * base + static_cast<std::uint64_t>(value);
  }
  return id;
}

constexpr std::size_t hex_digits = 16;
constexpr std::size_t base62_digits = 11;
constexpr std::size_t crockford_digits = 13;

std::optional<std::uint64_t> read_decimal(std::string_view text) noexcept {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t id = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, id);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return id;
}

std::optional<std::uint64_t> read_all_hex(std::string_view text) noexcept {
  std::uint64_t id = 0;
  if (text.size() != hex_digits || !read_hex(text, id)) return std::nullopt;
  return id;
}

}  // namespace

std::to_chars_result to_chars(char* first, char* last, std::uint64_t id, TextForm form) noexcept {
  const auto has_room_for = [&](std::size_t digits) { return last - first >= static_cast<std::ptrdiff_t>(digits); };
  switch (form) {
    case TextForm::decimal: return std::to_chars(first, last, id);
    case TextForm::hex:
      if (!has_room_for(hex_digits)) break;
      write_hex(first, static_cast<std::uint32_t>(id >> 32));
      write_hex(first + 8, static_cast<std::uint32_t>(id));
      return {first + hex_digits, std::errc()};
    case TextForm::base62:
      if (!has_room_for(base62_digits)) break;
      write<62, base62_digits>(first, id, base62_alphabet);
      return {first + base62_digits, std::errc()};
    case TextForm::crockford:
      if (!has_room_for(crockford_digits)) break;
      write<32, crockford_digits>(first, id, crockford_alphabet);
      return {first + crockford_digits, std::errc()};
  }
  return {last, std::errc::value_too_large};
}

std::string to_text(std::uint64_t id, TextForm form) {
  std::array<char, longest_text> text{};
  return {text.data(), to_chars(text.data(), text.data() + text.size(), id, form).ptr};
}

std::optional<std::uint64_t> from_text(std::string_view text, TextForm form) noexcept {
  static constexpr Values of_base62 = values_of(base62_alphabet);
  static constexpr Values of_crockford = crockford_values();
  switch (form) {
    case TextForm::decimal: return read_decimal(text);
    case TextForm::hex: return read_all_hex(text);
    case TextForm::base62: return read<62, base62_digits>(text, of_base62);
    case TextForm::crockford: return read<32, crockford_digits>(text, of_crockford);
  }
  return std::nullopt;
}

}  // namespace holdfast::ids
