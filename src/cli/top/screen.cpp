#include "cli/top/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "cli/exit_code.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

/// The alternate screen; no cursor; lines that are too long (of wide characters) are cut off instead of wrapped.
constexpr std::string_view take_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view give_screen_back = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

bool can_be_drawn_on() {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

}  // namespace

void Screen::require(const std::string& instead) {
  if (::isatty(STDIN_FILENO) == 0 || !is_terminal(Stream::output)) {
    throw UsageError("standard input and output must be a terminal; " + instead);
  }
  if (!can_be_drawn_on()) throw UsageError("this terminal cannot be drawn on (see $TERM); " + instead);
}

Screen::Screen() : colours_(wants_colour(Stream::output)) {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the terminal's settings");
  }
  enter();
}

Screen::~Screen() { leave(); }

ScreenSize Screen::size() {
  winsize found{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0) return {};
  return {.columns = found.ws_col, .rows = found.ws_row};
}

void Screen::draw(const Frame& frame, ScreenSize size) {
  std::string bytes = paint(frame, size.columns, colours_);
  if (bytes == shown_) return;
  print(bytes);
  shown_ = std::move(bytes);
}

void Screen::leave() noexcept {
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  try {
    print(give_screen_back);
  } catch (const std::system_error&) {
    return;  // the terminal is gone
  }
}

void Screen::enter() {
  termios raw = before_;
  ::cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot change the terminal's settings");
  }
  forget();
  print(take_screen);
}

}  // namespace holdfast::cli
