#include "cli/text/json_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/text/characters.hpp"

namespace holdfast::cli {
namespace {

std::string escaped_unit(unsigned unit) {
  std::array<char, 7> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", unit);
  return text.data();
}

/// In UTF-16, as JSON wants it.
std::string escaped(char32_t code) {
  constexpr char32_t first_of_pairs = 0x10000;
  if (code < first_of_pairs) return escaped_unit(code);
  const char32_t rest = code - first_of_pairs;
  return escaped_unit(0xD800U + (rest >> 10U)) + escaped_unit(0xDC00U + (rest & 0x3FFU));
}

/// The library has escaped control characters below U+0020 inside strings. Those that are left are the line breaks
/// between the members, and whatever lies beyond ASCII is inside a string.
bool needs_escape(char32_t code) { return code >= 0x7F && is_treacherous(code); }

}  // namespace

std::string json_text(const nlohmann::ordered_json& json, JsonLayout layout) {
  const int indentation = layout == JsonLayout::indented ? 2 : -1;
  const std::string dumped = json.dump(indentation, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text;
  for (std::string_view rest = dumped; !rest.empty();) {
    const Character character = first_character(rest);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (needs_escape(character.code)) {
      text += escaped(character.code);
    } else {
      text += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return text + "\n";
}

}  // namespace holdfast::cli
