#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "holdfast/ids/snowflake.hpp"
#include "ids/grant.hpp"
#include "ids/wiped_memory.hpp"
#include "ids/worker_lease.hpp"

namespace holdfast::ids {

/// A lease of a worker number, and the grant that is made of it. The decisions are those of WorkerLease; this makes the
/// grants follow them, so that calls on other threads may issue meanwhile. It does no I/O and reads no clock.
///
/// One thread steps; any thread reads grant() and issues from it.
class Issuer {
 public:
  Issuer(LeaseRules rules, WhenSetBack when_set_back, WorkerLease::RandomSource random);

  /// Null before the first one. What was closed may still be read, for as long as the Issuer exists.
  Grant* grant() const noexcept { return grant_.load(std::memory_order_acquire); }
  /// False in a forked child.
  bool belongs_to_this_process() const noexcept { return memory_.belongs_to_this_process(); }

  // As those of WorkerLease.
  WorkerLease::Step step(WallTime wall, base::Instant boot);
  void looked(WorkerLease::Looked looked, WallTime wall, base::Instant boot);
  void wrote(const Reply<Written>& reply, WallTime wall, base::Instant boot);

  /// Ends the grant, and gives the number back for good. step() is Over when that is done.
  void leave_for_good();

  const std::optional<Trouble>& trouble() const { return lease_.trouble(); }
  const WorkerLease::Counters& counters() const { return lease_.counters(); }

 private:
  Moment moment(WallTime wall, base::Instant boot);
  void follow_clock(WallTime wall);
  void follow_lease();
  std::int64_t close_grant();

  std::int64_t most_ahead() const;  ///< of a clock that was set back, in ticks
  unsigned sequence_bits() const { return static_cast<unsigned>(rules_.layout.fields().sequence_bits); }

  const LeaseRules rules_;
  const WhenSetBack when_set_back_;
  WorkerLease lease_;
  WipedMemory memory_;
  std::atomic<Grant*> grant_ = nullptr;
  bool granted_ = false;      ///< the newest grant is not closed
  std::uint64_t serial_ = 0;  ///< of its tenure
  std::int64_t reached_ = 0;  ///< see Moment
};

}  // namespace holdfast::ids
