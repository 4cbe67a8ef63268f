#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace holdfast::test {

/// The time of day that a server believes in. Ours, until it is set.
class ServerClock {
 public:
  ServerClock();
  ~ServerClock();
  ServerClock(const ServerClock&) = delete;
  ServerClock& operator=(const ServerClock&) = delete;

  /// What must stand before the server's own command for it to believe in this clock.
  std::vector<std::string> launcher() const;

  /// Forward, or back if it is negative. Takes effect at once.
  void step(std::chrono::nanoseconds by) { offset_->fetch_add(by.count()); }

 private:
  TemporaryDirectory directory_{memory_directory()};
  std::atomic<std::int64_t>* offset_ = nullptr;
};

}  // namespace holdfast::test
