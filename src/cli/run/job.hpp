#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::cli {

/// What is run under the lock, as it is known before the lock is held.
struct Job {
  std::vector<std::string> command = {};
  std::string lock = {};
  std::string url = {};          ///< without a password: the command will see it
  std::string outer_holds = {};  ///< what its own ancestors hold; see nesting.hpp
  std::chrono::milliseconds ttl = {};
  std::chrono::milliseconds grace = std::chrono::seconds(5);  ///< how long it may take to end after SIGTERM
  std::chrono::milliseconds max_hold = {};                    ///< zero: for ever
  bool survives_loss = false;                                 ///< when the lock is lost, only warn
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

/// Becomes the command, with the environment that it shall find. Returns only when that failed, with errno.
int become(const Job& job, const Grant& grant);

}  // namespace holdfast::cli
