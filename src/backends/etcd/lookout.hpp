#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "backends/etcd/ahead_watches.hpp"
#include "backends/etcd/keys.hpp"
#include "backends/etcd/known_claims.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/link.hpp"
#include "backends/etcd/rooms.hpp"
#include "backends/etcd/sight.hpp"
#include "backends/etcd/watches.hpp"
#include "spi/backend.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Knows the claims of this client, and looks out for what happens to them without being asked about: a waiting claim's
/// turn comes, somebody deletes a key, a holder is asked to let go.
///
/// A waiting claim watches the one that it waits for, so a release wakes one client. Every claim that lasts for a while
/// watches its own key. Whenever a watch begins or tells something, the claim is looked at; what that says is told.
class Lookout {
 public:
  /// REQUIRES: all outlive it.
  Lookout(const spi::BackendContext& context, Link& link, Watches& watches, Leases& leases, const Keys& keys);

  /// A read or a write has found how the claim stands, and the core is told so. `mode`: as it joined.
  /// `armed`: the lease is certain to run from there on.
  spi::ClaimAnswer found(const ClaimKey& claim, Standing standing, ClaimMode mode, base::Instant armed);
  /// It is about to be deleted by us: what happens to it is no news.
  void ignore(const ClaimKey& claim);
  /// It is not there, or shall not be.
  void forget(const ClaimKey& claim);

  const KnownClaim* find(const ClaimKey& claim) const;
  /// What must be read to know how it stands now.
  Sight sight_of(const ClaimKey& claim, const KnownClaim& known) const;
  Rooms& rooms() { return rooms_; }
  void close();

 private:
  spi::ClaimAnswer describe(KnownClaim& known, const Standing& standing);
  void note(const ClaimKey& claim, const Standing& standing, ClaimMode mode);
  void wait_for(const ClaimKey& claim, const Standing& standing);
  void watch_lasting_claims();
  void look(const ClaimKey& claim);
  spi::Operation<spi::Nothing> looking(ClaimKey claim);
  void looked(const ClaimKey& claim, const std::optional<Standing>& standing);

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  Link& link_;
  Watches& watches_;
  Leases& leases_;
  const Keys& keys_;
  KnownClaims claims_;
  Rooms rooms_;
  AheadWatches ahead_;
  std::deque<std::pair<base::Instant, ClaimKey>> to_watch_;  ///< when a claim lasts long enough to be watched
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
