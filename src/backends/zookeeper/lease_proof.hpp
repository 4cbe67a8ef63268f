#pragma once

#include <deque>

#include "base/instant.hpp"

namespace holdfast::zookeeper {

/// Since when a session's lease is certain to run.
///
/// The server that we are connected to need not be the leader, who decides when a session has expired. It notes that we
/// are alive and reports that with its next answer to the leader's heartbeat, which comes every half tick. So a
/// reply proves nothing yet. But a write that was committed came to the leader after such a report, on the same
/// connection, if it was sent late enough after the request that was reported; and that the leader committed it shows
/// that it still was one. So: of what we sent, the newest that was answered, and followed after `spacing` by the
/// sending of a write that was committed, is when the lease began.
///
/// A session timeout is at least two ticks, so a third of it is half a tick and a sixth to spare. docs/backends says
/// what that means for heartbeats that are late.
class LeaseProof {
 public:
  void reset(base::Duration timeout) {
    spacing_ = timeout / 3;
    step_ = timeout / 24;
    marks_.clear();
  }

  /// The session was made. `began` is before its request was sent.
  void opened(base::Instant began) {
    proved_ = began;
    note(began, began);
  }

  /// It was found again on another connection: the leader was asked for that.
  void resumed(base::Instant began, base::Instant now) { note(began, now); }

  /// A request that was sent then had a reply.
  void answered(base::Instant sent) {
    if (marks_.empty() || sent >= marks_.back().sent + step_) note(sent, sent + spacing_);
  }

  /// A write that was sent then was committed.
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
    // One that counts from later on than the next would only stand in the way.
    while (!marks_.empty() && marks_.back().counts_from >= counts_from) marks_.pop_back();
    marks_.push_back({sent, counts_from});
  }

  base::Duration spacing_ = {};
  base::Duration step_ = {};  ///< marks are no closer to each other, so that there are few
  std::deque<Mark> marks_;
  base::Instant proved_ = base::Instant::min();
};

}  // namespace holdfast::zookeeper
