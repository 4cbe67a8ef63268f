#include "cli/run/descendants.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>

#include "base/file_descriptor.hpp"
#include "base/instant.hpp"
#include "cli/run/process_table.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

std::vector<Process> living_descendants() {
  const std::vector<Process> all = all_processes();
  std::set<pid_t> family{::getpid()};
  std::vector<Process> found;
  // A child may stand before its parent in the listing, so go over it until nobody new turns up.
  for (bool grew = true; grew;) {
    grew = false;
    for (const Process& process : all) {
      if (!family.contains(process.parent) || !family.insert(process.pid).second) continue;
      grew = true;
      if (process.alive) found.push_back(process);
    }
  }
  return found;
}

// glibc 2.36 declares these two without extern "C".
int open_handle(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }
int signal_through(const base::FileDescriptor& handle, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0));
}

/// False if it may not be signalled. That it is gone is no failure.
bool send_signal(const Process& process, int signal) {
  const base::FileDescriptor handle(open_handle(process.pid));
  if (!handle) return errno == ESRCH;
  // The handle is of whoever has the pid now: only if that is still the same one, it is the right one.
  const auto now = look_at(process.pid);
  if (!now || now->started != process.started) return true;
  return signal_through(handle, signal) == 0 || errno == ESRCH;
}

}  // namespace

Signalled signal_descendants(int signal) {
  Signalled signalled;
  for (const Process& process : living_descendants()) {
    if (send_signal(process, signal)) {
      ++signalled.reached;
    } else {
      signalled.refused.push_back(process.pid);
    }
  }
  return signalled;
}

void kill_descendants() {
  using std::chrono::milliseconds;
  constexpr milliseconds longest(100);
  constexpr milliseconds enough(1000);
  base::Instant seen = base::BootClock::now();
  // Most are dead at once. One that hangs in the kernel must not keep a processor busy.
  for (milliseconds pause(2);; pause = std::min(pause + milliseconds(1), longest)) {
    const Signalled signalled = signal_descendants(SIGKILL);
    if (signalled.reached == 0 && !signalled.refused.empty()) {
      return tell("process " + std::to_string(signalled.refused.front()) +
                  " runs as another user and cannot be stopped from here; it continues without the lock");
    }
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    if (signalled.reached > 0) seen = base::BootClock::now();
    if (base::BootClock::now() - seen > enough) break;
    std::this_thread::sleep_for(pause);
  }
  // Such as /proc with hidepid=2 and a process that has become another user.
  tell("a process that the command has started cannot be seen from here; it continues without the lock");
}

}  // namespace holdfast::cli
