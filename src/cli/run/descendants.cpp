#include "cli/run/descendants.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>
#include <string>

#include "cli/file_descriptor.hpp"
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
int signal_through(const FileDescriptor& handle, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0));
}

/// False if it may not be signalled. That it is gone is no failure.
bool send_signal(const Process& process, int signal) {
  const FileDescriptor handle(open_handle(process.pid));
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
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  while (true) {
    const Signalled signalled = signal_descendants(SIGKILL);
    if (signalled.reached == 0 && !signalled.refused.empty()) {
      return tell("process " + std::to_string(signalled.refused.front()) +
                  " runs as another user and cannot be stopped from here; it goes on without the lock");
    }
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace holdfast::cli
