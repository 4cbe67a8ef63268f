#include "cli/text/characters.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "cli/text/width_tables.hpp"

namespace holdfast::cli {
namespace {

constexpr auto treacherous = std::to_array<CharacterRange>({
    {0x00, 0x1F},        // C0
    {0x7F, 0x9F},        // DEL, C1
    {0x61C, 0x61C},      // Arabic letter mark
    {0x180E, 0x180E},    // a vowel separator that is invisible
    {0x200B, 0x200B},    // zero-width space
    {0x200E, 0x200F},    // left-to-right and right-to-left marks
    {0x2028, 0x202E},    // separators of lines and paragraphs; embeddings and overrides of direction
    {0x2060, 0x206F},    // invisible operators; isolates of direction; deprecated ones
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // annotations
    {0xE0000, 0xE007F},  // tags
});

bool is_in(std::span<const CharacterRange> ranges, char32_t code) {
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), code,
                                      [](const CharacterRange& each, char32_t wanted) { return each.last < wanted; });
  return range != ranges.end() && code >= range->first;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {.code = first, .bytes = 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {.code = code, .bytes = bytes};
}

bool is_treacherous(char32_t code) { return is_in(treacherous, code); }

std::size_t columns_of(char32_t code) {
  constexpr char32_t first_mark = 0x300;
  if (code < first_mark) return 1;
  if (is_in(zero_width_characters, code)) return 0;
  return is_in(wide_characters, code) ? 2 : 1;
}

}  // namespace holdfast::cli
