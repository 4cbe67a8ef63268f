#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// One key press on a terminal in raw mode.
struct Key {
  enum class Kind {
    character,
    enter,
    escape,
    backspace,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    interrupt,  ///< Ctrl-C
    stop,       ///< Ctrl-Z
    redraw,     ///< Ctrl-L
    unknown,    ///< one that nobody here asks for
  };

  Kind kind = Kind::unknown;
  std::string text = {};  ///< of a character: itself, in UTF-8

  friend bool operator==(const Key&, const Key&) = default;
};

/// Makes key presses of the bytes that a terminal sends. A press may be several bytes, and may arrive in pieces: so an
/// Esc may be the key or the beginning of another one, and only time can tell.
class KeyDecoder {
 public:
  /// The presses that are complete with these bytes.
  std::vector<Key> feed(std::string_view bytes);

  /// Whether a press has begun that may go on. Terminals send the bytes of one press at once, so if nothing comes for
  /// some hundredths of a second, call settle().
  bool undecided() const { return !pending_.empty(); }
  /// Nothing followed: takes what there is for what it is by itself.
  std::vector<Key> settle();

 private:
  std::string pending_;
};

}  // namespace holdfast::cli
