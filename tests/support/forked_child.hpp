#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

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

 private:
  bool failed_ = false;
};

/// Runs `body` in a forked child, without exec, and answers whether all its expectations held. The child is ended
/// after 20 s and runs no destructors but those of `body`.
inline bool succeeds_in_forked_child(const std::function<void(ChildReport&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
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
