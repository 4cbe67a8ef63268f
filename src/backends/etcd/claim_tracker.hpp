#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "backends/etcd/ahead_watches.hpp"
#include "backends/etcd/keys.hpp"
#include "backends/etcd/known_claims.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/semaphore_cache.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/standing_query.hpp"
#include "backends/etcd/watches.hpp"
#include "spi/backend.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Keeps track of this client's claims, and tells the core what happens to them without being asked about: a waiting
/// claim is granted, somebody deletes a key, a holder is asked to release its lock.
///
/// A waiting claim watches the one that it waits for, so a release wakes one client. A claim that has existed for a
/// while watches its own key. Whenever a watch begins or tells something, the tracker reads how the claim stands, and
/// tells the core if that is news.
class ClaimTracker {
 public:
  /// REQUIRES: all references outlive it, those in `context` included.
  ClaimTracker(const spi::BackendContext& context, ServerCalls& calls, Watches& watches, Leases& leases,
               const Keys& keys);

  /// A read or a write has found out how the claim stands. Returns what the core is answered. `mode`: the mode in which
  /// the claim joined. `armed`: the moment since which its lease is certain to run.
  spi::ClaimAnswer found(const ClaimKey& claim, LineStanding standing, ClaimMode mode, base::Instant armed);
  /// This client is about to delete the claim, so what happens to it is no news.
  void ignore(const ClaimKey& claim);
  /// The claim does not exist, or is not wanted any more.
  void forget(const ClaimKey& claim);

  /// Null if the claim is not known.
  const KnownClaim* find(const ClaimKey& claim) const;
  /// The read that finds out how a known claim stands now.
  StandingQuery query_for(const ClaimKey& claim, const KnownClaim& known) const;
  SemaphoreCache& semaphores() { return semaphores_; }
  void close();

 private:
  spi::ClaimAnswer describe(KnownClaim& known, const LineStanding& standing);
  void note(const ClaimKey& claim, const LineStanding& standing, ClaimMode mode);
  void wait_for(const ClaimKey& claim, const LineStanding& standing);
  void watch_lasting_claims();
  void look(const ClaimKey& claim);
  spi::Operation<spi::Nothing> looking(ClaimKey claim);
  void looked(const ClaimKey& claim, const std::optional<LineStanding>& standing);

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  ServerCalls& calls_;
  Watches& watches_;
  Leases& leases_;
  const Keys& keys_;
  KnownClaims claims_;
  SemaphoreCache semaphores_;
  AheadWatches ahead_;
  std::deque<std::pair<base::Instant, ClaimKey>> to_watch_;  ///< when each claim has lasted long enough to be watched
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
