#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backends/etcd/keep_alives.hpp"
#include "backends/etcd/server_calls.hpp"
#include "holdfast/options.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// One of etcd's leases. All keys under it end together, unless somebody keeps it alive.
///
/// A leader that stood still and was deposed without noticing is dangerous for the leases that it knew. It answers
/// clients that keep these leases alive, and when it continues it may end them by the time of its own clock, although
/// its successor has renewed them (etcd before 3.4.31 and 3.5.13). It does not know the leases that its successor
/// grants. So a lease is relied upon until another leader is heard of; then its claims are moved under a new one.
struct Lease {
  std::int64_t id = 0;
  spi::milliseconds length = {};  ///< as it was granted, in whole seconds
  /// When the last request that armed the lease and was answered had been sent. Any read or write that was sent later
  /// and finds a key under this lease proves it.
  base::Instant armed = base::Instant::min();
  std::uint64_t term = 0;               ///< of the leader that may have granted it
  std::size_t claims = 0;               ///< how many claims of this client are known to be under it
  LeaseKind kind = LeaseKind::renewed;  ///< fixed: it belongs to one claim, which nobody renews
  bool is_shared = false;               ///< more claims may come under it
  bool gone = false;
};
using LeasePtr = std::shared_ptr<Lease>;

/// The leases of one client. Claims of the same length that are renewed share one lease, and each fixed claim has one
/// of its own. Only requests about claims keep leases alive; otherwise they end by themselves.
class Leases {
 public:
  /// REQUIRES: `loop` and `calls` outlive it.
  Leases(spi::Loop& loop, ServerCalls& calls) : loop_(loop), calls_(calls), keep_alives_(loop, calls) {}

  /// A lease of at least that length to put a claim under. It was armed a short while ago at most.
  spi::Operation<LeasePtr> get(spi::milliseconds length, LeaseKind kind, base::Instant deadline);
  /// Arms the lease again. The answer is empty if the lease is gone.
  spi::Operation<LeasePtr> keep_alive(std::int64_t lease, base::Instant deadline);
  void keep_all_alive(const std::vector<std::int64_t>& leases, base::Instant deadline,
                      spi::Done<std::map<std::int64_t, LeasePtr>> done);

  /// Another leader has been elected since the lease was granted.
  bool is_outlived(const Lease& lease) const { return lease.term < calls_.term(); }

  /// What this client knows of the lease. Empty if it knows nothing.
  LeasePtr find(std::int64_t lease) const;

  /// One more claim is under the lease.
  void is_used(std::int64_t lease) const;
  /// One claim less is under the lease. A lease that no claim may come under any more is given back with its last one.
  void is_unused(std::int64_t lease);
  /// The store does not have the lease any more.
  void is_gone(std::int64_t lease);
  /// No later claim comes under the lease: a request whose end nobody knows may put a key under it, and that key must
  /// not live as long as this client does.
  void retire(std::int64_t lease);

  /// Answers everything. Returns the leases that no claim needs.
  std::vector<std::int64_t> close();

 private:
  spi::Operation<LeasePtr> grant(std::int64_t seconds, LeaseKind kind, base::Instant deadline);
  spi::Operation<LeasePtr> freshen(std::int64_t seconds, base::Instant deadline);

  spi::Loop& loop_;
  ServerCalls& calls_;
  KeepAlives keep_alives_;
  std::map<std::int64_t, LeasePtr> leases_;                              ///< by id
  std::map<std::int64_t, LeasePtr> shared_;                              ///< by the seconds that were asked for
  std::map<std::int64_t, std::vector<spi::Done<LeasePtr>>> freshening_;  ///< who waits for a lease of so many seconds
};

}  // namespace holdfast::etcd
