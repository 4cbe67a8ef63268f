#include "cli/shell.hpp"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace holdfast::test {

Shell::Shell(const std::string& url) {
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
  if (pid_ < 0) throw std::runtime_error("no pseudo-terminal");
  if (pid_ == 0) {
    ::setenv("HOLDFAST_URL", url.c_str(), 1);
    ::setenv("tool", HOLDFAST_TOOL, 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv("PS1", "$ ", 1);
    ::unsetenv("NO_COLOR");
    ::execlp("bash", "bash", "--norc", "--noprofile", "--noediting", "-i", nullptr);
    ::_exit(98);
  }
  ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
  ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
  // What is typed is not wanted on the screen, where the tests look for what it leads to.
  type("stty -echo; echo read''y\n");
  if (!shows("ready")) throw std::runtime_error("no bash");
}

Shell::~Shell() {
  ::close(terminal_);  // hangs up: bash passes that on to its jobs
  if (!eventually(std::chrono::seconds(2), [&] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; })) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Shell::type(std::string_view keys) {
  if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error("the pseudo-terminal takes no keys");
  }
}

bool Shell::shows(std::string_view text, std::chrono::milliseconds bound) {
  std::size_t found = std::string::npos;
  const bool there = eventually(bound, [&] {
    read_what_is_there();
    found = screen_.find(text, seen_);
    return found != std::string::npos;
  });
  if (there) seen_ = found + text.size();
  return there;
}

void Shell::read_what_is_there() {
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = ::read(terminal_, buffer.data(), buffer.size())) > 0) {
    screen_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace holdfast::test
