#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Percent-coding: a byte that is not plain becomes `%` and two hexadecimal digits.
namespace holdfast::base {

/// How the digits of letters are written. Where two spellings of one name would be two names, only one of them is
/// right.
enum class HexDigits { upper, lower, either };

/// ASCII letters and digits, and `.`, `_`, `-`. (The functions of <cctype> depend on the locale.)
constexpr bool is_plain_in_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// `is_plain(c)` says which bytes stay as they are; `%` must not be one of them.
template <class IsPlain>
std::string percent_encoded(std::string_view text, IsPlain is_plain, HexDigits digits = HexDigits::upper) {
  const std::string_view all = digits == HexDigits::lower ? "0123456789abcdef" : "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += all[byte >> 4U];
      encoded += all[byte & 15U];
    }
  }
  return encoded;
}

/// The value of a digit; empty if it is none of these.
constexpr std::optional<unsigned> hex_value(char c, HexDigits digits) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f' && digits != HexDigits::upper) return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F' && digits != HexDigits::lower) return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

/// Empty if a `%` is not followed by two of these digits.
inline std::optional<std::string> percent_decoded(std::string_view text, HexDigits digits) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto high = i + 1 < text.size() ? hex_value(text[i + 1], digits) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_value(text[i + 2], digits) : std::nullopt;
    if (!high || !low) return std::nullopt;
    decoded += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return decoded;
}

}  // namespace holdfast::base
