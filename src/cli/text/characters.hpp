#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::cli {

/// The character that a text begins with.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: what the text begins with is not UTF-8
};

/// Strict: overlong forms, surrogates and codes beyond Unicode are not UTF-8. REQUIRES: `text` is not empty.
Character first_character(std::string_view text);

/// Whether a terminal obeys the character instead of showing it, or shows others in another place because of it:
/// control characters, separators of lines, what changes the direction of writing, and what is invisible.
bool is_treacherous(char32_t code);

/// How many columns of a terminal it takes: 0, 1 or 2.
std::size_t columns_of(char32_t code);

}  // namespace holdfast::cli
