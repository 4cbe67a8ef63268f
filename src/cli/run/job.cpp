#include "cli/run/job.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file_descriptor.hpp"
#include "cli/run/nesting.hpp"

namespace holdfast::cli {
namespace {

void set_environment(const Job& job, const Grant& grant) {
  constexpr int replace = 1;
  ::setenv("HOLDFAST_LOCK", job.lock.c_str(), replace);
  ::setenv("HOLDFAST_TOKEN", std::to_string(grant.token).c_str(), replace);
  ::setenv("HOLDFAST_HOLDER", grant.holder.c_str(), replace);
  ::setenv("HOLDFAST_URL", job.url.c_str(), replace);
  ::setenv(outer_holds_variable, with_hold(job.outer_holds, grant).c_str(), replace);
  ::unsetenv("HOLDFAST_PASSWORD");
}

}  // namespace

bool has_terminal() {
  return static_cast<bool>(base::FileDescriptor(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)));
}

void leave_standard_streams() {
  const base::FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return;
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
}

int become(const Job& job, const Grant& grant) {
  set_environment(job, grant);
  std::vector<char*> arguments;
  arguments.reserve(job.command.size() + 1);
  // execvp() takes pointers to char for reasons older than const; it changes nothing.
  for (const std::string& word : job.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return errno;
}

}  // namespace holdfast::cli
