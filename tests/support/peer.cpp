#include "support/peer.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stop_token>
#include <system_error>

#include "support/eventually.hpp"

namespace holdfast::test {

std::string Peer::ask(const std::string& command) {
  send(command);
  return receive();
}

std::string Peer::receive() { return receive(patience).value_or("no answer"); }

ThreadPeer::ThreadPeer(const std::string& url)
    : thread_([this, url](const std::stop_token& stop) { run(stop, url); }) {}

ThreadPeer::~ThreadPeer() { leave(); }

void ThreadPeer::run(const std::stop_token& stop, const std::string& url) {
  Worker worker(url);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !commands_.empty(); })) {
    const std::string command = std::move(commands_.front());
    commands_.pop_front();
    lock.unlock();
    std::string answer = worker.answer(command);
    lock.lock();
    answers_.push_back(std::move(answer));
    changed_.notify_all();
  }
  lock.unlock();
}

void ThreadPeer::send(const std::string& command) {
  const std::scoped_lock lock(mutex_);
  commands_.push_back(command);
  changed_.notify_all();
}

std::optional<std::string> ThreadPeer::receive(std::chrono::milliseconds bound) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, bound, [this] { return !answers_.empty(); })) return std::nullopt;
  std::string answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

void ThreadPeer::leave() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

namespace {

/// As fork(), with namespaces of its own. The child runs none of the handlers that fork() would run: it can do no more
/// than a few system calls, and exec.
pid_t fork_into_container() {
  constexpr unsigned long namespaces = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC;
  const auto child = static_cast<pid_t>(syscall(SYS_clone, namespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child != 0) return child;
  const bool own_processes = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                             mount("proc", "/proc", "proc", 0, nullptr) == 0;
  if (!own_processes) _exit(127);
  return 0;
}

}  // namespace

ProcessPeer::ProcessPeer(const std::string& url, Place place) { start(url, place, nullptr); }

ProcessPeer::ProcessPeer(const std::string& url, const ServerClock& clock) { start(url, Place::here, &clock); }

void ProcessPeer::start(const std::string& url, Place place, const ServerClock* clock) {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string name = "holdfast-worker";
  std::string mode(worker_argument);
  std::array<char*, 3> arguments = {name.data(), mode.data(), nullptr};
  int error = 0;
  if (place == Place::container) {
    pid_ = fork_into_container();
    if (pid_ == 0) {
      if (dup2(ends[1], STDIN_FILENO) == STDIN_FILENO && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO) {
        execv(program.c_str(), arguments.data());
      }
      _exit(127);
    }
    if (pid_ < 0) error = errno;
  } else {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (clock == nullptr) {
      error = posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    } else {
      std::vector<std::string> words = clock->launcher();
      words.push_back(program);
      words.push_back(mode);
      std::vector<char*> launched;
      for (std::string& word : words) launched.push_back(word.data());
      launched.push_back(nullptr);
      error = posix_spawnp(&pid_, launched.front(), &actions, nullptr, launched.data(), environ);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start another process");
  send(url);  // not an argument: others can read those
}

ProcessPeer::~ProcessPeer() {
  kill();
  close(socket_);
}

void ProcessPeer::send(const std::string& command) {
  const std::string line = command + "\n";
  // Short lines: they fit into the socket's buffer. A worker that has died shows when its answer is missing.
  static_cast<void>(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL));
}

std::optional<std::string> ProcessPeer::receive(std::chrono::milliseconds bound) {
  const auto deadline = std::chrono::steady_clock::now() + bound;
  while (true) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wanted = {.fd = socket_, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
    std::array<char, 4096> buffer;
    const auto bytes = read(socket_, buffer.data(), buffer.size());
    if (bytes <= 0) return std::nullopt;
    received_.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
}

void ProcessPeer::leave() {
  shutdown(socket_, SHUT_WR);
  reap();
}

void ProcessPeer::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  reap();
}

void ProcessPeer::pause() {
  if (pid_ <= 0) return;  // it is gone, and -1 would mean everybody
  ::kill(pid_, SIGSTOP);
  int status = 0;
  waitpid(pid_, &status, WUNTRACED);
}

bool ProcessPeer::stops_itself() {
  return eventually([this] {
    int status = 0;
    return waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_ && WIFSTOPPED(status);
  });
}

void ProcessPeer::resume() {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

void ProcessPeer::reap() {
  if (pid_ <= 0) return;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
}

}  // namespace holdfast::test
