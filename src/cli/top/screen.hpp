#pragma once

#include <termios.h>

#include <string>

#include "cli/top/frame.hpp"

namespace holdfast::cli {

/// The terminal as a canvas: the alternate screen without a cursor, keys as they are pressed. Standard input and output
/// are its ends. The destructor gives it back as it was.
class Screen {
 public:
  /// Throws UsageError that ends with `instead` when there is no terminal that can be drawn on.
  static void require(const std::string& instead);

  /// Takes the terminal. REQUIRES: require() did not throw.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static ScreenSize size();

  /// Shows the frame, in one write, so that nobody sees half of it. Does nothing when it is shown already.
  void draw(const Frame& frame, ScreenSize size);

  /// Draws the next frame in any case: somebody else may have written on the terminal.
  void forget() { shown_.clear(); }

  /// Gives the terminal back for a while.
  void leave() noexcept;
  /// Takes it again.
  void enter();

 private:
  termios before_{};
  const bool colours_;
  std::string shown_;
};

}  // namespace holdfast::cli
