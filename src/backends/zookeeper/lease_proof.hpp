#pragma once

#include <deque>

#include "base/instant.hpp"

namespace holdfast::zookeeper {

/// Since when a session's lease is certain to run.
///
/// The leader decides when a session has expired, and the server that we are connected to need not be the leader. It
/// notes that we are alive, and reports that with its next answer to the leader's heartbeat, which comes every half
/// tick. So a reply alone proves nothing. But a write that is sent long enough after another request reaches the leader
/// behind the report about that request, because both use the same connection; and that the leader commits the write
/// shows that it still is the leader. So the lease began when we sent the newest request that was answered and was
/// followed, at least `spacing` later, by the sending of a write that was committed.
///
/// A session timeout is at least two ticks, so a third of it is half a tick with a sixth of a tick to spare.
/// docs/backends/zookeeper.md says what that means for heartbeats that are late.
class LeaseProof {
 public:
  void reset(base::Duration timeout) {
    spacing_ = timeout / 3;
    step_ = timeout / 24;
    marks_.clear();
  }

  /// The session was opened. `began` is before the request for it was sent.
  void opened(base::Instant began) {
    proved_ = began;
    note(began, began);
  }

  /// The session was resumed on another connection, for which the server asks the leader.
  void resumed(base::Instant began, base::Instant now) { note(began, now); }

  /// A request that was sent at `sent` was answered.
  void answered(base::Instant sent) {
    if (marks_.empty() || sent >= marks_.back().sent + step_) note(sent, sent + spacing_);
  }

  /// A write that was sent at `sent` was committed.
  void committed(base::Instant sent) {
    while (!marks_.empty() && marks_.front().counts_from <= sent) {
      if (marks_.front().sent > proved_) proved_ = marks_.front().sent;
      marks_.pop_front();
    }
  }

  base::Instant since() const { return proved_; }

 private:
  struct Mark {
    base::Instant sent;
    base::Instant counts_from;
  };

  void note(base::Instant sent, base::Instant counts_from) {
    // A mark that counts later than a newer one is of no use.
    while (!marks_.empty() && marks_.back().counts_from >= counts_from) marks_.pop_back();
    marks_.push_back({sent, counts_from});
  }

  base::Duration spacing_ = {};
  base::Duration step_ = {};  ///< marks are no closer to each other, so that there are few
  std::deque<Mark> marks_;
  base::Instant proved_ = base::Instant::min();
};

}  // namespace holdfast::zookeeper
