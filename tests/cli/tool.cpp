#include "cli/tool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "support/temporary_directory.hpp"

namespace holdfast::test {
namespace {

/// The words behind the command's name in /proc/PID/stat: state, parent ...
std::istringstream stat_of(pid_t pid) {
  const std::string line = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = line.rfind(") ");
  return std::istringstream(name_end == std::string::npos ? "" : line.substr(name_end + 2));
}

void redirect(int descriptor, const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(99);
  ::close(file);
}

}  // namespace

Process::Process(std::vector<std::string> words, const Start& start) : folder_(new_folder()) {
  std::ofstream(folder_ / "in") << start.input;
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  ::setsid();
  redirect(STDIN_FILENO, folder_ / "in", O_RDONLY);
  redirect(STDOUT_FILENO, folder_ / "out", O_WRONLY | O_CREAT | O_APPEND);
  redirect(STDERR_FILENO, folder_ / "err", O_WRONLY | O_CREAT | O_APPEND);
  for (const std::string& assignment : start.environment) {
    const std::size_t equals = assignment.find('=');
    ::setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  ::_exit(98);
}

Process::~Process() {
  if (running()) {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove_all(folder_);
}

void Process::signal(int signal) const { ::kill(pid_, signal); }

bool Process::running() {
  if (status_) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
  status_ = status;
  return false;
}

Finished Process::finish(std::chrono::milliseconds bound) {
  Finished finished;
  if (eventually(bound, [&] { return !running(); })) {
    finished.code = WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 1000 + WTERMSIG(*status_);
  }
  finished.output = output();
  finished.errors = errors();
  return finished;
}

std::string Process::output() const { return read_file(folder_ / "out"); }
std::string Process::errors() const { return read_file(folder_ / "err"); }

std::vector<std::string> leaderless(const std::string& argument) { return {HOLDFAST_LEADERLESS, argument}; }

std::string known_leaks() {
  return std::string("LSAN_OPTIONS=use_tls=0:print_suppressions=0:suppressions=") + HOLDFAST_LEAK_SUPPRESSIONS;
}

std::vector<std::string> tool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HOLDFAST_TOOL);
  return arguments;
}

Finished run(std::vector<std::string> words, const Start& start) { return Process(std::move(words), start).finish(); }

char state_of(pid_t pid) {
  char state = ' ';
  stat_of(pid) >> state;
  return state;
}

bool alive(pid_t pid) {
  std::istringstream stat = stat_of(pid);
  const std::vector<std::string> words(std::istream_iterator<std::string>(stat), {});
  constexpr std::size_t threads = 17;
  if (words.size() <= threads) return false;
  // The first thread may have ended before the others.
  return (words.front() != "Z" && words.front() != "X") || std::stoi(words[threads]) > 1;
}

pid_t parent_of(pid_t pid) {
  char state = ' ';
  pid_t parent = -1;
  stat_of(pid) >> state >> parent;
  return parent;
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::istringstream text(read_file("/proc/" + number + "/task/" + number + "/children"));
  return {std::istream_iterator<pid_t>(text), {}};
}

std::string read_file(const std::filesystem::path& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();  // which does not throw if a process ends while /proc is read
  return std::move(text).str();
}

std::filesystem::path new_folder() {
  std::string name = memory_directory() / "holdfast-cli-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
  return name;
}

}  // namespace holdfast::test
