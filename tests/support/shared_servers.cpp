#include "support/shared_servers.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/file_descriptor.hpp"
#include "support/temporary_directory.hpp"
#include "support/threads_at_exit.hpp"

// Processes find each other by files in a directory that is named after the program:
//   users    every user has a shared lock on it, for as long as it lives; the keeper an exclusive one when it ends
//   starting whoever looks for the servers, and starts them if there are none, has a lock on it meanwhile
//   keeper   the keeper has a lock on it for as long as it lives
//   url      where the servers are; written when they are ready

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using base::FileDescriptor;

constexpr auto idle_time = 10s;  ///< from one suite to the next
constexpr auto look_every = 250ms;

std::filesystem::path place_of(const std::string& name) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string key = std::to_string(std::hash<std::string>()(program));
  return memory_directory() / ("holdfast-test-servers-" + std::to_string(getuid()) + "-" + key + "-" + name);
}

FileDescriptor open_file(const std::filesystem::path& file, int flags) {
  FileDescriptor opened(open(file.c_str(), flags | O_CLOEXEC, 0600));
  if (!opened) throw std::system_error(errno, std::generic_category(), file.string());
  return opened;
}

bool lock(const FileDescriptor& file, int how) {
  while (flock(file.get(), how) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "flock");
  }
  return true;
}

std::string read_all(const FileDescriptor& file) {
  std::string text;
  std::array<char, 512> buffer = {};
  for (ssize_t count = 0; (count = read(file.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

void write_all(const FileDescriptor& file, const std::string& text) {
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "write");
  }
}

/// Returns when nobody has used them for a while; nobody can from then on, until the keeper has ended.
FileDescriptor wait_until_idle(const std::filesystem::path& place) {
  FileDescriptor users = open_file(place / "users", O_RDWR | O_CREAT);
  auto last_used = std::chrono::steady_clock::now();
  for (;;) {
    std::this_thread::sleep_for(look_every);
    const auto now = std::chrono::steady_clock::now();
    if (!lock(users, LOCK_EX | LOCK_NB)) {
      last_used = now;
      continue;
    }
    if (now - last_used >= idle_time) return users;
    lock(users, LOCK_UN);
  }
}

/// `report` is told nothing if all is well, or what is wrong.
void keep(const std::filesystem::path& place, const std::function<RunningServers()>& start, FileDescriptor report) {
  FileDescriptor users;
  try {
    const FileDescriptor keeper = open_file(place / "keeper", O_RDWR | O_CREAT);
    lock(keeper, LOCK_EX);
    RunningServers running = start();
    write_all(open_file(place / "url", O_WRONLY | O_CREAT | O_TRUNC), running.url);
    report = {};
    users = wait_until_idle(place);
    std::filesystem::remove(place / "url");
    running.servers.reset();
  } catch (const std::exception& error) {
    if (report) write_all(report, error.what());
  }
}

/// A child of nobody's: it holds nothing of ours, neither the terminal nor pipes that somebody reads to their end.
void start_keeper(const std::filesystem::path& place, const std::function<RunningServers()>& start) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    constexpr int report = 3;
    if (setsid() < 0 || fork() != 0) _exit(0);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, standard);
    // dup3() refuses to copy a descriptor to itself.
    if (write_end.get() != report) dup3(write_end.get(), report, O_CLOEXEC);
    close_range(report + 1, ~0U, 0);
    signal(SIGPIPE, SIG_IGN);
    keep(place, start, FileDescriptor(report));
    _exit(0);
  }
  write_end = {};
  waitpid(child, nullptr, 0);
  const std::string complaint = read_all(read_end);
  if (!complaint.empty()) throw std::runtime_error(complaint);
}

struct Use {
  std::string url = {};
  FileDescriptor users = {};  ///< with the lock of a user
};

Use find_or_start(const std::string& name, const std::function<RunningServers()>& start) {
  const std::filesystem::path place = place_of(name);
  std::filesystem::create_directory(place);
  FileDescriptor users = open_file(place / "users", O_RDWR | O_CREAT);
  lock(users, LOCK_SH);
  const FileDescriptor starting = open_file(place / "starting", O_RDWR | O_CREAT);
  lock(starting, LOCK_EX);
  const FileDescriptor keeper = open_file(place / "keeper", O_RDWR | O_CREAT);
  if (lock(keeper, LOCK_SH | LOCK_NB)) {  // nobody keeps any
    std::filesystem::remove(place / "url");
    lock(keeper, LOCK_UN);
    start_keeper(place, start);
  }
  std::string url = read_all(open_file(place / "url", O_RDONLY));
  if (url.empty()) throw std::runtime_error("nobody knows where the servers are that " + place.string() + " is about");
  return {std::move(url), std::move(users)};
}

}  // namespace

std::string shared_servers(const std::string& name, const std::function<RunningServers()>& start) {
  wait_for_threads_at_exit();
  static std::mutex mutex;
  static std::map<std::string, Use> uses;
  const std::lock_guard guard(mutex);
  if (const auto found = uses.find(name); found != uses.end()) return found->second.url;
  return uses.emplace(name, find_or_start(name, start)).first->second.url;
}

}  // namespace holdfast::test
