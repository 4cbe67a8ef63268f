#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/eventually.hpp"

namespace holdfast::test {

/// How a program ended, and what it printed.
struct Finished {
  int code = -1;  ///< its exit code; 1000 + the signal that killed it; -1 if it did not end in time
  std::string output = {};
  std::string errors = {};
};

/// How a program is started.
struct Start {
  std::vector<std::string> environment = {};  ///< `NAME=value`, on top of the test's own
  std::string input = {};                     ///< what it reads from standard input
};

/// For the environment of a tool that uses a server: tells LeakSanitizer, where there is one, which
/// leaks of the libraries are known (tests/leak-suppressions).
std::string known_leaks();

/// A program as a process of its own, in a session without a terminal. Killed when this object ends.
class Process {
 public:
  explicit Process(std::vector<std::string> words, const Start& start = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int signal) const;
  bool running();
  /// Waits until it has ended.
  Finished finish(std::chrono::milliseconds bound = patience);
  /// What it has printed so far.
  std::string output() const;
  std::string errors() const;

 private:
  std::filesystem::path folder_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// A program whose first thread ends at once. Another one writes its pid to the file `argument`, and adds a dot to the
/// file `argument.work` again and again.
std::vector<std::string> leaderless(const std::string& argument);
/// The tool with these arguments.
std::vector<std::string> tool(std::vector<std::string> arguments);
/// Runs a program to its end.
Finished run(std::vector<std::string> words, const Start& start = {});

/// Whether a process exists and any of its threads does.
bool alive(pid_t pid);
/// The state letter of /proc/PID/stat: `T` is stopped; ' ' if there is no such process.
char state_of(pid_t pid);
pid_t parent_of(pid_t pid);
/// The children of a process.
std::vector<pid_t> children_of(pid_t pid);
std::string read_file(const std::filesystem::path& path);
/// A folder of its own, in memory where that is possible.
std::filesystem::path new_folder();

}  // namespace holdfast::test
