// `demo`: this process narrates; the hosts are forked from it. It must stay without threads, so it never opens a
// client: only the hosts do.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/demo/failure.hpp"
#include "cli/demo/story.hpp"
#include "cli/exit_code.hpp"
#include "cli/signals.hpp"
#include "cli/store.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr demo::Pace normal_pace = {.lease = 3s, .beat = 700ms};
constexpr demo::Pace fast_pace = {.lease = 1s, .beat = 100ms};

/// A folder of its own, removed at the end with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot create a temporary folder " + in_quotes(name));
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Whether the user's locale has all characters: the first of these variables that is set decides.
bool has_utf8_locale() {
  std::string locale;
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (locale.empty() && value != nullptr) locale = value;
  }
  std::transform(locale.begin(), locale.end(), locale.begin(), [](unsigned char c) { return std::tolower(c); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

/// Whether two lanes fit. A terminal that does not know its size is taken for a usual one.
bool has_room_for_lanes() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal(Stream::output) && (!known || size.ws_col >= 80);
}

class Demo : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.flag("--fast", "make the pauses short; takes about 5 seconds", fast_);
    parameters.text("-u,--url", "URL", "the store (default: a new one in a temporary folder)", store_.url);
    parameters.text("--password-file", "FILE",
                    "a file with the store's password (default: the URL's, or $HOLDFAST_PASSWORD)",
                    store_.password_file);
  }

  int execute() override {
    const Signals signals;
    const TemporaryFolder folder;
    const demo::Look look = {
        .lanes = has_room_for_lanes(), .colours = wants_colour(Stream::output), .utf8 = has_utf8_locale()};
    try {
      demo::Story(store_in(folder.path()), folder.path(), fast_ ? fast_pace : normal_pace, look, signals).tell();
      return exit_code::ok;
    } catch (const demo::Failure& failure) {
      tell(failure.what());
      return failure.code;
    } catch (const demo::Interrupted& interrupted) {
      if (is_terminal(Stream::output)) print("\n");  // behind the terminal's ^C
      return exit_code::signal_base + interrupted.signal;
    }
  }

 private:
  /// $HOLDFAST_URL does not count: who only wants to look shall not touch the store in use.
  std::string store_in(const std::filesystem::path& folder) const {
    StoreFlags flags = store_;
    if (!flags.url) flags.url = "sqlite:" + (folder / "locks.db").string();
    return choose_store(flags).url;
  }

  bool fast_ = false;
  StoreFlags store_;
};

}  // namespace

const CommandEntry demo_entry = {
    .name = "demo",
    .summary = "See in 20 seconds what a lock is good for",
    .details =
        "Two processes play two hosts that have the same job: without a lock, with one, when the holder\n"
        "is killed, and when it is paused and wakes up too late. Nothing is simulated: if something does\n"
        "not happen as announced, the demonstration says so and exits 70.\n"
        "It uses a lock name of its own. In a store named by --url it leaves one small record behind,\n"
        "which says when the job was done. Its own store is removed.\n"
        "Examples:\n"
        "  holdfast demo\n"
        "  holdfast demo --fast | cat",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Demo>(); },
};

}  // namespace holdfast::cli
