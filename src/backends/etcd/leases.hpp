#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backends/etcd/keep_alives.hpp"
#include "backends/etcd/link.hpp"
#include "holdfast/options.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// One of etcd's leases: the keys under it end together, unless somebody keeps it alive.
///
/// A leader that was deposed without noticing, because it stood still, is dangerous for the leases that it knew. It
/// answers those who keep them alive, and when it goes on it may end them, by the time of its own clock, although its
/// successor has renewed them (etcd before 3.4.31 and 3.5.13). It knows nothing of those that its successor grants. So
/// a lease is believed in as long as no other leader has been heard of; then its claims are moved under another one.
struct Lease {
  std::int64_t id = 0;
  spi::milliseconds length = {};  ///< as granted, in whole seconds
  /// When the last request that armed it, and was answered, had been sent. Proved by any read or write that is sent
  /// later and finds a key under this lease.
  base::Instant armed = base::Instant::min();
  std::uint64_t term = 0;               ///< who was leader when it was granted
  std::size_t claims = 0;               ///< of ours that we know of
  LeaseKind kind = LeaseKind::renewed;  ///< fixed: it is of one claim, which nobody renews
  bool lent = false;                    ///< more claims may come under it
  bool gone = false;
};
using LeasePtr = std::shared_ptr<Lease>;

/// The leases of one client: one for each length that is renewed, shared by its claims, and one of its own for each
/// claim that is not. Nothing keeps them alive but requests about claims: they end by themselves.
class Leases {
 public:
  /// REQUIRES: both outlive it.
  Leases(spi::Loop& loop, Link& link) : loop_(loop), link_(link), keep_alives_(loop, link) {}

  /// A lease of at least that length to put a claim under, armed a short while ago at most.
  spi::Operation<LeasePtr> get(spi::milliseconds length, LeaseKind kind, base::Instant deadline);
  /// Arms it anew. Empty if it is gone.
  spi::Operation<LeasePtr> keep_alive(std::int64_t lease, base::Instant deadline);
  /// Arms many.
  void keep_all_alive(const std::vector<std::int64_t>& leases, base::Instant deadline,
                      spi::Done<std::map<std::int64_t, LeasePtr>> done);

  /// Another leader has been elected since it was granted.
  bool is_outlived(const Lease& lease) const { return lease.term < link_.term(); }

  /// What we know of it; perhaps nothing.
  LeasePtr find(std::int64_t lease) const;

  void is_used(std::int64_t lease) const;
  /// Gives one back that was of that claim alone.
  void is_unused(std::int64_t lease);
  void is_gone(std::int64_t lease);
  /// No later claim shall share it: a request that nobody knows the end of may put a key under it, and that key must
  /// not live as long as this client.
  void retire(std::int64_t lease);

  /// Answers everything. Returns those that no claim needs.
  std::vector<std::int64_t> close();

 private:
  spi::Operation<LeasePtr> grant(std::int64_t seconds, LeaseKind kind, base::Instant deadline);
  spi::Operation<LeasePtr> freshen(std::int64_t seconds, base::Instant deadline);

  spi::Loop& loop_;
  Link& link_;
  KeepAlives keep_alives_;
  std::map<std::int64_t, LeasePtr> leases_;                              ///< by id
  std::map<std::int64_t, LeasePtr> shared_;                              ///< by the seconds that were asked for
  std::map<std::int64_t, std::vector<spi::Done<LeasePtr>>> freshening_;  ///< who waits for it, by seconds
};

}  // namespace holdfast::etcd
