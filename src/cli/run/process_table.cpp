#include "cli/run/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>

#include "cli/file_descriptor.hpp"

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

}  // namespace

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

bool is_ancestor(pid_t pid) {
  pid_t parent = ::getppid();
  while (parent > 0 && parent != pid) {
    const auto process = look_at(parent);
    parent = process ? process->parent : 0;
  }
  return parent > 0;
}

}  // namespace holdfast::cli
