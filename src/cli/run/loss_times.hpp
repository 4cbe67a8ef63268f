#pragma once

#include <algorithm>
#include <chrono>

#include "base/instant.hpp"

namespace holdfast::cli {

/// When a command must go. V is the end of the lease as the holder may believe in it: after it, the store may give the
/// lock to somebody else, so everything must be dead before. M is the end of `--max-hold`, if there is one.
///
/// | what happened             | SIGTERM                        | SIGKILL                                        |
/// |---------------------------|--------------------------------|------------------------------------------------|
/// | renewals fail             | V - lease_notice()             | V - 100 ms                                     |
/// | it was held for long      | M - min(grace, max_hold / 4)   | M - 100 ms                                     |
/// | the lock is gone already  | at once                        | after min(grace, 1 s), before V and M at most  |
///
/// SIGTERM never comes later than SIGKILL, however short the grace. The guardian sees to all of this; if it has not
/// done so half of the 100 ms later, because somebody stopped it, the tool kills the command itself.
class LossTimes {
 public:
  using Instant = base::Instant;
  using milliseconds = std::chrono::milliseconds;  // NOLINT(readability-identifier-naming): the standard's name
  using nanoseconds = std::chrono::nanoseconds;    // NOLINT(readability-identifier-naming): the standard's name

  struct Ends {
    Instant lease;                          ///< V
    Instant lease_notice = Instant::max();  ///< V - lease_notice()
    Instant max_hold = Instant::max();      ///< M
  };

  LossTimes(milliseconds ttl, milliseconds grace, milliseconds max_hold)
      : ttl_(ttl), grace_(grace), max_hold_notice_(std::max(std::min(grace, max_hold / 4), margin)) {}

  /// What a renewal proves of the lease.
  enum class Proof {
    at_once,  ///< it runs from the renewal on
    late,     ///< it ran from some earlier moment on (StoreTraits::proves_lease_late)
  };

  /// How long before V the command is asked to end, when a renewal, or the grant, has moved V to `given` from now:
  /// min(grace, ttl / 4), where the store proves a lease at once. A store may prove less. ZooKeeper shows that a
  /// session was alive some time ago, so `given` is much less than the ttl; and where it is not, because the session
  /// has just begun, the first renewal need not move V, and the second one must. Renewals are sent a third of the ttl
  /// after one another. The command must be left alone until the one that moves V, and for as long again as is left
  /// then, because a renewal may be slow.
  nanoseconds lease_notice(nanoseconds given, Proof proof) const {
    const nanoseconds interval = nanoseconds(ttl_) / 3;
    nanoseconds left_at_renewal = given - interval;
    if (proof == Proof::late && left_at_renewal > interval) left_at_renewal -= interval;
    return std::max<nanoseconds>(std::min<nanoseconds>({grace_, ttl_ / 4, left_at_renewal / 2}), margin);
  }

  Instant terminate_at(const Ends& ends) const { return std::min(ends.lease_notice, max_hold_notice(ends)); }
  /// Whether M, and not V, is why.
  bool max_hold_is_over(const Ends& ends) const { return max_hold_notice(ends) <= ends.lease_notice; }
  static Instant kill_at(const Ends& ends) { return std::min(ends.lease, ends.max_hold) - margin; }
  Instant kill_at_after_loss(Instant now, const Ends& ends) const {
    return std::min(now + std::min(grace_, longest_after_loss), kill_at(ends));
  }
  /// When whoever was to send SIGKILL at `kill_at` must have done so.
  static Instant overdue_at(Instant kill_at) { return kill_at + margin / 2; }

 private:
  static constexpr milliseconds margin = milliseconds(100);
  static constexpr milliseconds longest_after_loss = std::chrono::seconds(1);

  Instant max_hold_notice(const Ends& ends) const { return ends.max_hold - max_hold_notice_; }

  milliseconds ttl_;
  milliseconds grace_;
  milliseconds max_hold_notice_;
};

}  // namespace holdfast::cli
