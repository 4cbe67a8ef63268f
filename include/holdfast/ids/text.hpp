#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "holdfast/export.hpp"

namespace holdfast::ids {

/// How a number of 64 bits is written. All but `decimal` have a fixed length, so these texts sort as the numbers do if
/// they are compared byte by byte (`COLLATE "C"` in PostgreSQL, `BINARY` in MariaDB).
enum class TextForm {
  decimal,    ///< "1541815603606036480": 1 to 20 digits; does not sort as a text
  hex,        ///< "1565a11f6217a000": 16 digits, lower case
  base62,     ///< "1ptWyK4WgZU": 11 digits, 0-9A-Za-z. Two ids may differ in nothing but the case of a letter
  crockford,  ///< "1ASD13XH1F800": 13 digits of Crockford's base 32, upper case; it has no I, L, O and U
};

/// The length of the longest text of all forms.
inline constexpr std::size_t longest_text = 20;

/// Writes `id` as std::to_chars does: no terminating null, and `errc::value_too_large` if there is not enough room.
/// Allocates nothing.
HOLDFAST_EXPORT std::to_chars_result to_chars(char* first, char* last, std::uint64_t id, TextForm form) noexcept;

HOLDFAST_EXPORT std::string to_text(std::uint64_t id, TextForm form);

/// The number that `to_text` has written. Hex is read in either case; and Crockford's as he says: in either case, with I
/// and L for 1 and O for 0. Anything else is no number: signs, spaces, another length, superfluous zeros in front of a
/// decimal number, or a value beyond 64 bits.
HOLDFAST_EXPORT std::optional<std::uint64_t> from_text(std::string_view text, TextForm form) noexcept;

}  // namespace holdfast::ids
