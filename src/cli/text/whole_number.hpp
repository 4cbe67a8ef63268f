#pragma once

#include <charconv>
#include <optional>
#include <string>

namespace holdfast::cli {

/// A number in decimal digits, with a '-' in front if it is negative; empty if `text` is anything else, or does not
/// fit.
template <class Number>
std::optional<Number> whole_number(const std::string& text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace holdfast::cli
