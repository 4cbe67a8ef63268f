#include "cli/tmux.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "cli/tool.hpp"

namespace holdfast::test {
namespace {

/// When the terminal goes, the tool gets SIGHUP. If LeakSanitizer has just begun to stop its threads, that signal makes
/// it wait for ever, and it uses up a processor meanwhile.
std::string without_leak_check() {
  const char* const options = std::getenv("ASAN_OPTIONS");
  return "ASAN_OPTIONS=" + (options != nullptr ? options + std::string(":") : std::string()) + "detect_leaks=0";
}

}  // namespace

Tmux::Tmux(const std::filesystem::path& folder, const std::string& url, Size size)
    : socket_(folder / "tmux"),
      environment_{"HOLDFAST_URL=" + url, "tool=" + tool({}).front(), "NO_COLOR=", "TERM=xterm", "TMUX=", "PS1=$ ",
                   without_leak_check()} {
  call({"-f", "/dev/null", "new-session", "-d", "-x", std::to_string(size.columns), "-y", std::to_string(size.rows),
        "bash --norc --noprofile"});
  enter("clear; echo read''y");
  if (!shows("ready\n")) throw std::runtime_error("no tmux with a bash in it");
}

Tmux::~Tmux() { run({"tmux", "-S", socket_, "kill-server"}); }

void Tmux::type(const std::string& text) const { call({"send-keys", "-l", text}); }

void Tmux::press(const std::string& key) const { call({"send-keys", key}); }

void Tmux::enter(const std::string& command) const {
  type(command);
  press("Enter");
}

void Tmux::resize(Size size) const {
  call({"resize-window", "-x", std::to_string(size.columns), "-y", std::to_string(size.rows)});
}

std::string Tmux::screen() const { return call({"capture-pane", "-p"}); }

std::string Tmux::painted_screen() const { return call({"capture-pane", "-p", "-e"}); }

std::string Tmux::row(std::size_t index) const {
  std::istringstream lines(screen());
  std::string line;
  for (std::size_t i = 0; i <= index; ++i) {
    if (!std::getline(lines, line)) return "";
  }
  return line;
}

bool Tmux::shows(const std::string& text) const {
  return eventually([&] { return screen().find(text) != std::string::npos; });
}

bool Tmux::hides(const std::string& text) const {
  return eventually([&] { return screen().find(text) == std::string::npos; });
}

std::string Tmux::variable(const std::string& name) const {
  std::string value = call({"display-message", "-p", "#{" + name + "}"});
  if (value.ends_with('\n')) value.pop_back();
  return value;
}

std::string Tmux::call(std::vector<std::string> arguments) const {
  std::vector<std::string> words{"tmux", "-u", "-S", socket_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Finished finished = run(std::move(words), {.environment = environment_});
  if (finished.code != 0) throw std::runtime_error("tmux " + arguments.front() + ": " + finished.errors);
  return finished.output;
}

}  // namespace holdfast::test
