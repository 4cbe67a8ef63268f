#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace holdfast::bench {

/// A peer that is no library of ours: a program (peers/) that is asked one line, does the work, and answers a number.
class Driver {
 public:
  /// Runs where the calling thread may run now. Throws if it does not say "ready".
  explicit Driver(const std::vector<std::string>& command);
  /// Closes its input, by which it ends.
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Throws if it answers no number.
  double ask(const std::string& line) {
    tell(line);
    return hear();
  }
  /// The same in two parts, so that several can work at once.
  void tell(const std::string& line);
  double hear() { return std::stod(answer()); }

 private:
  std::string answer();

  std::string program_;
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

/// What a program prints, run to its end. Throws if it fails.
std::string output_of(const std::vector<std::string>& command);

}  // namespace holdfast::bench
