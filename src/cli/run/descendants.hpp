#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace holdfast::cli {

/// The living descendants of this process are found through /proc: completely only as far as this process is a
/// subreaper, because then a child whose parent ended is still a descendant. What forks meanwhile may be missing.

struct Signalled {
  std::size_t reached = 0;
  std::vector<pid_t> refused = {};  ///< they run as another user
};
/// Sends `signal` to each of them, and never to a stranger who got a dead one's pid.
Signalled signal_descendants(int signal);

/// SIGKILL to all of them, again and again until none is left, or only such that may not be signalled or seen: says so.
void kill_descendants();

}  // namespace holdfast::cli
