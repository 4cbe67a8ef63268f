#pragma once

#include <algorithm>
#include <chrono>

#include "cli/boot_clock.hpp"

namespace holdfast::cli {

/// When a command must go. V is the end of the lease as the holder may believe in it: after it, the store may give the
/// lock to somebody else, so everything must be dead before.
///
/// | what happened             | SIGTERM                   | SIGKILL                                   |
/// |---------------------------|---------------------------|-------------------------------------------|
/// | renewals fail             | V - min(grace, ttl / 4)   | V - 100 ms                                |
/// | the lock is gone already  | at once                   | after min(grace, 1 s), at V - 100 ms at most |
class LossTimes {
 public:
  using Instant = BootClock::time_point;

  explicit LossTimes(std::chrono::milliseconds ttl) : notice_(std::min<std::chrono::milliseconds>(grace, ttl / 4)) {}

  Instant terminate_at(Instant valid_until) const { return valid_until - notice_; }
  static Instant kill_at(Instant valid_until) { return valid_until - margin; }
  static Instant kill_at_after_loss(Instant now, Instant valid_until) {
    return std::min(now + std::min<std::chrono::milliseconds>(grace, longest_after_loss), kill_at(valid_until));
  }

 private:
  static constexpr std::chrono::milliseconds grace = std::chrono::seconds(5);
  static constexpr std::chrono::milliseconds margin = std::chrono::milliseconds(100);
  static constexpr std::chrono::milliseconds longest_after_loss = std::chrono::seconds(1);

  std::chrono::milliseconds notice_;
};

}  // namespace holdfast::cli
