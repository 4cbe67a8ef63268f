#include "holdfast/name.hpp"

#include <cstdint>
#include <optional>

#include "holdfast/error.hpp"

namespace holdfast {
namespace {

/// Where the first byte stands that is not part of well-formed UTF-8 (no overlong forms, surrogates or > U+10FFFF).
std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<std::uint8_t>(text[at]);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    std::size_t length = 0;
    std::uint8_t second_min = 0x80;
    std::uint8_t second_max = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      if (lead == 0xE0) second_min = 0xA0;
      if (lead == 0xED) second_max = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      if (lead == 0xF0) second_min = 0x90;
      if (lead == 0xF4) second_max = 0x8F;
    } else {
      return at;
    }
    if (text.size() - at < length) return at;
    for (std::size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<std::uint8_t>(text[at + i]);
      const std::uint8_t min = i == 1 ? second_min : 0x80;
      const std::uint8_t max = i == 1 ? second_max : 0xBF;
      if (byte < min || byte > max) return at;
    }
    at += length;
  }
  return std::nullopt;
}

void check(std::string_view text) {
  if (text.empty()) throw Error(Errc::invalid_argument, "a lock's name must not be empty");
  if (text.size() > LockName::max_bytes) {
    throw Error(Errc::invalid_argument, "a lock's name must be at most " + std::to_string(LockName::max_bytes) +
                                            " bytes, got " + std::to_string(text.size()) + " bytes");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    throw Error(Errc::invalid_argument,
                "a lock's name must not contain NUL, and there is a NUL character at byte " + std::to_string(nul));
  }
  if (const auto at = first_invalid_utf8(text)) {
    throw Error(Errc::invalid_argument, "a lock's name is not valid UTF-8 at byte " + std::to_string(*at) +
                                            "; encode binary names, for example in hexadecimal");
  }
}

}  // namespace

LockName::LockName(std::string text) : text_(std::move(text)) { check(text_); }

}  // namespace holdfast
