#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::interop {

/// redis_py_client.py, beside this process; Debian's Python, because its modules belong to that one.
class PythonProcess {
 public:
  /// `arguments` are words.
  PythonProcess(const std::string& port, const std::vector<std::string>& arguments) {
    std::string command = "exec /usr/bin/python3 " HOLDFAST_REDIS_PY_CLIENT " " + port;
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    pipe_ = popen(command.c_str(), "re");
    if (pipe_ == nullptr) throw std::runtime_error("cannot start " + command);
  }
  ~PythonProcess() {
    if (pipe_ != nullptr) pclose(pipe_);
  }
  PythonProcess(PythonProcess&& other) noexcept : pipe_(std::exchange(other.pipe_, nullptr)) {}
  PythonProcess& operator=(PythonProcess&&) = delete;

  /// The next line that it prints; empty when there is none any more.
  std::string line() {
    std::string text;
    for (int c = std::fgetc(pipe_); c != EOF && c != '\n'; c = std::fgetc(pipe_)) text += static_cast<char>(c);
    return text;
  }

  /// Waits for its end: whether it was content.
  bool succeeds() { return pclose(std::exchange(pipe_, nullptr)) == 0; }

 private:
  std::FILE* pipe_ = nullptr;
};

}  // namespace holdfast::interop
