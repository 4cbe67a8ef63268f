#include "cli/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cli/file_descriptor.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

/// One line of /proc/PID/stat. Together, pid and start time name a process for ever.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  bool alive = false;  ///< not a zombie
  std::uint64_t started = 0;
};

/// The n-th word behind the command's name, which may itself hold spaces and parentheses.
std::string_view word(std::string_view text, int n) {
  for (; n > 0; --n) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return text.substr(0, text.find(' '));
}

template <class Number>
Number number(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<Process> look_at(pid_t pid) {
  const FileDescriptor file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer{};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  if (length <= 0) return std::nullopt;
  std::string_view line(buffer.data(), static_cast<std::size_t>(length));
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  line.remove_prefix(name_end + 2);
  const std::string_view state = word(line, 0);
  return Process{.pid = pid,
                 .parent = number<pid_t>(word(line, 1)),
                 .alive = state != "Z" && state != "X",
                 .started = number<std::uint64_t>(word(line, 19))};
}

std::vector<Process> all_processes() {
  std::vector<Process> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (!folder) return found;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto pid = number<pid_t>(static_cast<const char*>(entry->d_name));
    if (pid <= 0) continue;
    if (const auto process = look_at(pid)) found.push_back(*process);
  }
  return found;
}

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

std::vector<pid_t> descendants() {
  std::vector<pid_t> pids;
  for (const Process& process : living_descendants()) pids.push_back(process.pid);
  return pids;
}

std::vector<pid_t> signal_descendants(int signal) {
  std::vector<pid_t> refused;
  for (const Process& process : living_descendants()) {
    if (!send_signal(process, signal)) refused.push_back(process.pid);
  }
  return refused;
}

void kill_descendants() {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  bool told = false;
  while (true) {
    const std::vector<pid_t> refused = signal_descendants(SIGKILL);
    if (!refused.empty() && !std::exchange(told, true)) {
      tell("process " + std::to_string(refused.front()) +
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
