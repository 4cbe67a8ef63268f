#pragma once

#include <algorithm>
#include <chrono>

#include "cli/boot_clock.hpp"

namespace holdfast::cli {

/// When a command must go. V is the end of the lease as the holder may believe in it: after it, the store may give the
/// lock to somebody else, so everything must be dead before. M is the end of `--max-hold`, if there is one.
///
/// | what happened             | SIGTERM                        | SIGKILL                                        |
/// |---------------------------|--------------------------------|------------------------------------------------|
/// | renewals fail             | V - min(grace, ttl / 4)        | V - 100 ms                                     |
/// | it was held for long      | M - min(grace, max_hold / 4)   | M - 100 ms                                     |
/// | the lock is gone already  | at once                        | after min(grace, 1 s), before V and M at most  |
class LossTimes {
 public:
  using Instant = BootClock::time_point;
  using milliseconds = std::chrono::milliseconds;

  struct Ends {
    Instant lease;                  ///< V
    Instant turn = Instant::max();  ///< M
  };

  LossTimes(milliseconds ttl, milliseconds grace, milliseconds max_hold)
      : grace_(grace), lease_notice_(std::min(grace, ttl / 4)), turn_notice_(std::min(grace, max_hold / 4)) {}

  Instant terminate_at(const Ends& ends) const {
    return std::min(ends.lease - lease_notice_, ends.turn - turn_notice_);
  }
  /// Whether M, and not V, is why.
  bool turn_is_over(const Ends& ends) const { return ends.turn - turn_notice_ <= ends.lease - lease_notice_; }
  static Instant kill_at(const Ends& ends) { return std::min(ends.lease, ends.turn) - margin; }
  Instant kill_at_after_loss(Instant now, const Ends& ends) const {
    return std::min(now + std::min(grace_, longest_after_loss), kill_at(ends));
  }

 private:
  static constexpr milliseconds margin = milliseconds(100);
  static constexpr milliseconds longest_after_loss = std::chrono::seconds(1);

  milliseconds grace_;
  milliseconds lease_notice_;
  milliseconds turn_notice_;
};

}  // namespace holdfast::cli
