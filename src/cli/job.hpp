#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::cli {

class Signals;

/// What is run under the lock, as it is known before the lock is held.
struct Job {
  std::vector<std::string> command = {};
  std::string lock = {};
  std::string url = {};  ///< without a password: the command will see it
  std::chrono::milliseconds ttl = {};
  /// With a controlling terminal the command stays in the group that the shell made for the job, so that pipes, Ctrl-C
  /// and Ctrl-Z work as without the tool. Without one it gets a group of its own.
  bool on_terminal = false;
};

/// What is known once the lock is held.
struct Grant {
  std::uint64_t token = 0;
  std::string holder = {};  ///< the client's public id
};

/// Whether this process has a controlling terminal.
bool has_terminal();

/// Lets go of standard input and output, so that only the command keeps its pipes open.
void leave_standard_streams();

/// Becomes the command: in a forked child, with signals, group and environment as the command shall find them. Returns
/// only when that failed, with errno.
int become(const Job& job, const Grant& grant, const Signals& signals);

}  // namespace holdfast::cli
