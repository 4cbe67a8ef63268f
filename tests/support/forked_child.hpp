#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace holdfast::test {

/// Collects what a forked child finds wrong; GoogleTest's own assertions do not leave the child.
class ChildReport {
 public:
  void expect(bool condition, const std::string& what) {
    if (condition) return;
    failed_ = true;
    std::fprintf(stderr, "in the forked child: %s\n", what.c_str());
  }
  bool failed() const { return failed_; }

  /// For a child that the test kills: does not return.
  [[noreturn]] void wait_to_be_killed() const {
    while (true) pause();
  }

 private:
  bool failed_ = false;
};

/// A forked child, without exec, that runs `body` beside this process. It is killed after 60 s, and when this object is
/// destroyed; it runs no destructors but those of `body`. Make it before this process opens clients of its own.
class ForkedChild {
 public:
  explicit ForkedChild(const std::function<void(ChildReport&)>& body) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(60);
    ChildReport report;
    try {
      body(report);
    } catch (const std::exception& error) {
      report.expect(false, std::string("unexpected exception: ") + error.what());
    }
    _exit(report.failed() ? 1 : 0);
  }
  ~ForkedChild() { kill(); }
  ForkedChild(ForkedChild&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ForkedChild& operator=(ForkedChild&&) = delete;

  /// Waits for its end: whether all its expectations held.
  bool succeeds() {
    int status = 0;
    const pid_t child = std::exchange(pid_, -1);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  /// SIGKILL; returns when the process is gone.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    succeeds();
  }
  /// SIGSTOP; returns when the process stands still.
  void pause() const {
    ::kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  void resume() const { ::kill(pid_, SIGCONT); }

 private:
  pid_t pid_;
};

/// Runs `body` in a forked child, without exec, and answers whether all its expectations held. The child is ended
/// after 60 s and runs no destructors but those of `body`.
inline bool succeeds_in_forked_child(const std::function<void(ChildReport&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    ChildReport report;
    try {
      body(report);
    } catch (const std::exception& error) {
      report.expect(false, std::string("unexpected exception: ") + error.what());
    }
    _exit(report.failed() ? 1 : 0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace holdfast::test
