#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "support/eventually.hpp"

namespace holdfast::test {

/// An interactive bash with job control on a pseudo-terminal. `$tool` is the tool. Hung up when this object ends.
class Shell {
 public:
  explicit Shell(const std::string& url);
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  /// Types something; a line needs its newline.
  void type(std::string_view keys);
  /// Waits until the screen has shown `text` since the last call that found its text, and goes on behind it.
  bool shows(std::string_view text, std::chrono::milliseconds bound = patience);
  /// Everything that was shown so far.
  const std::string& screen() const { return screen_; }

  static constexpr std::string_view ctrl_c = "\x03";
  static constexpr std::string_view ctrl_z = "\x1a";

 private:
  void read_what_is_there();

  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace holdfast::test
