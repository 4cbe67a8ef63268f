#pragma once

#include <algorithm>
#include <chrono>

#include "base/instant.hpp"

namespace holdfast::zookeeper {

/// When to ask the server for something small. Its answer is something recent to prove (LeaseProof); if there is none
/// for too long, the server is silent and is left for another one, long before the library would leave it. No I/O: a
/// Session carries it out.
class Pings {
 public:
  /// So many in a session's timeout.
  static constexpr int per_timeout = 20;
  /// A server that is silent for this part of the timeout is left, but never sooner than after `least_silence`.
  static constexpr int silences_per_timeout = 8;
  static constexpr base::Duration least_silence = std::chrono::milliseconds(100);

  enum class Next { send, wait, leave_server };

  void reset(base::Duration timeout) { timeout_ = timeout; }

  /// What to do now; `unanswered`: the last ping is.
  Next next(base::Instant now, bool unanswered) const {
    if (!unanswered) return Next::send;
    return now >= sent_ + std::max(timeout_ / silences_per_timeout, least_silence) ? Next::leave_server : Next::wait;
  }
  void sent(base::Instant now) { sent_ = now; }
  /// When to ask next() again.
  base::Instant due_after(base::Instant now) const { return now + timeout_ / per_timeout; }

 private:
  base::Duration timeout_ = {};
  base::Instant sent_ = {};
};

}  // namespace holdfast::zookeeper
