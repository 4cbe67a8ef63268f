#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// How large a terminal is.
struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;

  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

/// A line of the screen. The text must be printable().
struct FrameLine {
  enum class Style { plain, title, heading, selected, warning };

  std::string text = {};
  Style style = Style::plain;

  friend bool operator==(const FrameLine&, const FrameLine&) = default;
};

/// What the whole screen shows, from the top.
using Frame = std::vector<FrameLine>;

/// The bytes that make a terminal with so many columns show the frame instead of what it shows now, without clearing it
/// first: that would flicker. Without colours, styles are bold and reverse. REQUIRES: no line is wider than the
/// terminal.
std::string paint(const Frame& frame, std::size_t columns, bool colours);

}  // namespace holdfast::cli
