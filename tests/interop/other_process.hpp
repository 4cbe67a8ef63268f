#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast::interop {

/// Another program, beside this process, that prints lines.
class OtherProcess {
 public:
  explicit OtherProcess(const std::string& command) : pipe_(popen(("exec " + command).c_str(), "re")) {
    if (pipe_ == nullptr) throw std::runtime_error("cannot start " + command);
  }
  ~OtherProcess() {
    if (pipe_ != nullptr) pclose(pipe_);
  }
  OtherProcess(OtherProcess&& other) noexcept : pipe_(std::exchange(other.pipe_, nullptr)) {}
  OtherProcess& operator=(OtherProcess&&) = delete;

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
