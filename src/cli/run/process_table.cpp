#include "cli/run/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace holdfast::cli {
namespace {

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

/// Opened once and kept, also by the guardian: whatever becomes of the mount, its processes can be found.
int proc() {
  static const base::FileDescriptor root(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return root.get();
}

/// As openat() does: negative, and errno says why.
int open_in_proc(const char* path, int flags) {
  const int root = proc();
  if (root >= 0) return ::openat(root, path, flags | O_CLOEXEC);
  errno = EBADF;
  return -1;
}

/// Its beginning; empty if it cannot be read.
std::string read_in_proc(const std::string& path) {
  const base::FileDescriptor file(open_in_proc(path.c_str(), O_RDONLY));
  std::array<char, 4096> buffer{};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// The pids that this process has, first in the namespace whose processes /proc shows, then in those inside of it.
/// Empty where the kernel has no namespaces.
std::vector<pid_t> own_pids() {
  constexpr std::string_view field = "\nNSpid:";
  const std::string status = read_in_proc("self/status");
  const std::size_t at = status.find(field);
  if (at == std::string::npos) return {};
  std::istringstream line(status.substr(at + field.size(), status.find('\n', at + 1) - at - field.size()));
  return {std::istream_iterator<pid_t>(line), {}};
}

}  // namespace

std::string why_not_found() {
  const std::string remedy = ", so the command could not be stopped with all its descendants when the lock is lost";
  const base::FileDescriptor folder(open_in_proc(".", O_RDONLY | O_DIRECTORY));
  const base::FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const int error = errno;
  if ((!folder || !handle) && (error == EMFILE || error == ENFILE)) {
    return "there are too few file descriptors" + remedy + "; raise the limit on open files (ulimit -n)";
  }
  if (!handle) return "the kernel has no pidfd_open()" + remedy + "; Linux 5.3 has it";
  const auto self = look_at(::getpid());
  const std::vector<pid_t> pids = own_pids();
  if (read_in_proc("self/stat").empty()) return "/proc is not mounted" + remedy + "; mount it";
  const bool ours = self && self->parent == ::getppid() && (pids.empty() || pids == std::vector{::getpid()});
  if (!ours) {
    return "/proc shows the processes of another pid namespace" + remedy + "; mount it anew ('unshare --mount-proc')";
  }
  return "";
}

std::optional<Process> look_at(pid_t pid) {
  const std::string text = read_in_proc(std::to_string(pid) + "/stat");
  std::string_view line = text;
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  line.remove_prefix(name_end + 2);
  const std::string_view state = word(line, 0);
  return Process{.pid = pid,
                 .parent = number<pid_t>(word(line, 1)),
                 .alive = (state != "Z" && state != "X") || number<int>(word(line, 17)) > 1,
                 .started = number<std::uint64_t>(word(line, 19))};
}

std::vector<Process> all_processes() {
  std::vector<Process> found;
  const int descriptor = open_in_proc(".", O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(descriptor < 0 ? nullptr : ::fdopendir(descriptor), &::closedir);
  if (!folder) return found;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto pid = number<pid_t>(static_cast<const char*>(entry->d_name));
    if (pid <= 0) continue;
    if (const auto process = look_at(pid)) found.push_back(*process);
  }
  return found;
}

bool is_ancestor(pid_t pid) {
  pid_t parent = ::getppid();
  while (parent > 0 && parent != pid) {
    const auto process = look_at(parent);
    parent = process ? process->parent : 0;
  }
  return parent > 0;
}

}  // namespace holdfast::cli
