#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// A process as /proc/PID/stat shows it. Together, pid and start time name a process for ever.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  bool alive = false;  ///< at least one of its threads is; the first one may have ended before the others
  std::uint64_t started = 0;
};

/// Why the descendants of this process could not be found from here, and what to do about it; empty if they can be:
/// /proc is mounted, shows the processes as this one knows them, and there are descriptors to read it with.
std::string why_not_found();

/// Empty if there is no such process.
std::optional<Process> look_at(pid_t pid);
/// All that can be seen from here.
std::vector<Process> all_processes();
/// Whether `pid` is the parent of this process, or the parent's parent and so on.
bool is_ancestor(pid_t pid);

}  // namespace holdfast::cli
