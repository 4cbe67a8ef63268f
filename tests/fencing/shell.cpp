#include "fencing/shell.hpp"

#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace holdfast::fencing {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

Outcome run_script(const std::string& script, const std::filesystem::path& directory,
                   const std::map<std::string, std::string>& environment) {
  std::string command = "cd " + quoted(directory.string()) + " && exec 2>&1 timeout 30 env";
  for (const auto& [name, value] : environment) command += ' ' + quoted(name + '=' + value);
  command += " sh -euc " + quoted(script);
  FILE* const pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::system_error(errno, std::generic_category(), "popen");
  Outcome outcome;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), size);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (outcome.output.ends_with('\n')) outcome.output.pop_back();
  return outcome;
}

}  // namespace holdfast::fencing
