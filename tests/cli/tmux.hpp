#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/eventually.hpp"

namespace holdfast::test {

/// A terminal whose screen can be looked at: a tmux of its own, with an interactive bash in it. `$tool` is the tool.
/// Ended with this object.
class Tmux {
 public:
  struct Size {
    int columns = 80;
    int rows = 24;
  };

  /// Keeps its socket in `folder`.
  Tmux(const std::filesystem::path& folder, const std::string& url, Size size = {.columns = 80, .rows = 24});
  ~Tmux();
  Tmux(const Tmux&) = delete;
  Tmux& operator=(const Tmux&) = delete;

  /// Types a text as it is.
  void type(const std::string& text) const;
  /// Presses a key by tmux's name for it: `Enter`, `Escape`, `C-c`, `PageDown`.
  void press(const std::string& key) const;
  /// Types a command.
  void enter(const std::string& command) const;
  void resize(Size size) const;

  /// What the screen shows now, a line for each of its rows but empty ones at the end.
  std::string screen() const;
  /// The same with the sequences that make its colours.
  std::string painted_screen() const;
  /// One row, counted from 0; empty if there is none.
  std::string row(std::size_t index) const;
  /// Whether the screen shows the text, or no longer shows it, sooner or later.
  bool shows(const std::string& text) const;
  bool hides(const std::string& text) const;

  /// What tmux knows about the terminal: `alternate_on`, `cursor_flag`, `pane_pid` ...
  std::string variable(const std::string& name) const;
  /// The bash.
  pid_t pid() const { return std::stoi(variable("pane_pid")); }

 private:
  std::string call(std::vector<std::string> arguments) const;

  const std::filesystem::path socket_;
  const std::vector<std::string> environment_;
};

}  // namespace holdfast::test
