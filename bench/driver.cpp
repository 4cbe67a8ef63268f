#include "driver.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace holdfast::bench {
namespace {

struct Child {
  pid_t pid;
  int input;   ///< what it reads
  int output;  ///< what it prints
};

Child start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (::pipe2(input.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe for " + command.front());
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  if (pid < 0) throw std::runtime_error("no process for " + command.front());
  return {pid, input[1], output[0]};
}

}  // namespace

Driver::Driver(const std::vector<std::string>& command) : program_(command.back()) {
  const Child child = start(command);
  pid_ = child.pid;
  to_ = ::fdopen(child.input, "w");
  from_ = ::fdopen(child.output, "r");
  if (answer() != "ready\n") throw std::runtime_error(program_ + " is not ready");
}

Driver::~Driver() {
  std::fclose(to_);
  std::fclose(from_);
  ::waitpid(pid_, nullptr, 0);
}

void Driver::tell(const std::string& line) {
  std::fprintf(to_, "%s\n", line.c_str());
  std::fflush(to_);
}

std::string Driver::answer() {
  std::array<char, 256> text{};
  if (std::fgets(text.data(), text.size(), from_) == nullptr) throw std::runtime_error(program_ + " has ended");
  return text.data();
}

std::string output_of(const std::vector<std::string>& command) {
  const Child child = start(command);
  ::close(child.input);
  std::string output;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::read(child.output, part.data(), part.size())) > 0;) {
    output.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(child.output);
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  if (status != 0) throw std::runtime_error(command.front() + " failed: " + output);
  return output;
}

}  // namespace holdfast::bench
