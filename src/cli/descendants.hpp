#pragma once

#include <sys/types.h>

#include <vector>

namespace holdfast::cli {

/// The living descendants of this process, found through /proc. Complete only as far as this process is a subreaper:
/// then a child whose parent ended is still a descendant. What forks meanwhile may be missing.
std::vector<pid_t> descendants();

/// Sends `signal` to each of them, and never to a stranger who got a dead one's pid. Returns those that may not be
/// signalled: they run as another user.
std::vector<pid_t> signal_descendants(int signal);

/// SIGKILL to all of them, again and again until none is left. Says so, once, when it is not allowed to.
void kill_descendants();

}  // namespace holdfast::cli
