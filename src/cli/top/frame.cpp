#include "cli/top/frame.hpp"

#include <string_view>

#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

std::string_view begin_of(FrameLine::Style style, bool colours) {
  switch (style) {
    case FrameLine::Style::plain: return "";
    case FrameLine::Style::title: return colours ? "\x1b[1;36m" : "\x1b[1m";
    case FrameLine::Style::heading: return "\x1b[1m";
    case FrameLine::Style::selected: return "\x1b[7m";
    case FrameLine::Style::warning: return colours ? "\x1b[1;31m" : "\x1b[1m";
  }
  return "";
}

constexpr std::string_view go_home = "\x1b[H";
constexpr std::string_view plain = "\x1b[0m";
constexpr std::string_view clear_rest_of_line = "\x1b[K";

}  // namespace

std::string paint(const Frame& frame, std::size_t columns, bool colours) {
  std::string bytes(go_home);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (i > 0) bytes += "\r\n";
    bytes += begin_of(frame[i].style, colours);
    bytes += frame[i].text;
    bytes += plain;
    // Behind a full line the cursor still stands on its last character, which must stay.
    if (width(frame[i].text) < columns) bytes += clear_rest_of_line;
  }
  return bytes;
}

}  // namespace holdfast::cli
