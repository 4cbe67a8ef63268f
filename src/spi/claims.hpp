#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "holdfast/name.hpp"
#include "holdfast/options.hpp"
#include "holdfast/status.hpp"
#include "spi/result.hpp"
#include "spi/vocabulary.hpp"

namespace holdfast::spi {

using std::chrono::milliseconds;

/// A claim's identity: random, chosen by the client, so that a request can be repeated after a lost reply.
/// Whoever knows it can release the claim: never shown.
struct ClaimId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const ClaimId&, const ClaimId&) = default;
};

/// How much of the name is wanted. Exclusive claims exclude everybody; shared ones only exclusive ones; `permits`
/// claims take k of n. Exclusive and shared claims stand in the line of the name's lock, permits in the line of its
/// semaphore; the two never meet.
struct Mode {
  ClaimMode kind = ClaimMode::exclusive;
  std::uint32_t permits = 1;  ///< k
  std::uint32_t limit = 1;    ///< n
  friend bool operator==(const Mode&, const Mode&) = default;
};

/// Whose line claims of this mode stand in.
constexpr LockKind kind_of(const Mode& mode) {
  return mode.kind == ClaimMode::permits ? LockKind::semaphore : LockKind::lock;
}

enum class WhenBusy : std::uint8_t { refuse, wait };

/// A request to stand in the line of `name`.
struct ClaimRequest {
  const LockName& name;  ///< valid until Done has run
  ClaimId id;
  Mode mode = {};
  milliseconds lease = {};
  /// Whether it will be renewed, or ends by itself. Stores whose leases belong to a session refuse what they cannot do.
  LeaseKind lease_kind = LeaseKind::renewed;
  WhenBusy when_busy = WhenBusy::wait;
  /// How long the name stays closed, beyond the lease, if the granted claim ends by itself: because its lease ended, or
  /// its client died, or was closed while it had it. Not after a release, nor after an operator's eviction. Does not
  /// count while the claim waits.
  milliseconds lock_delay = {};
  /// An older claim of this client in the same line, withdrawn in the same atomic step, wherever it stands and even if
  /// this request is refused.
  std::optional<ClaimId> replaces = {};
  /// Who claims and why, for listings. The client's identity is the same object in every request.
  std::shared_ptr<const ClientIdentity> client = {};
  std::string reason = {};

  LockKind kind() const { return kind_of(mode); }
};

/// A claim that exists, or did.
struct ClaimRef {
  const LockName& name;  ///< valid until Done has run
  LockKind kind;         ///< lock or semaphore: whose line it stands in
  ClaimId id;
  /// renew: the store makes it last at least this long from now, and never shortens it. Zero only asks how it stands.
  milliseconds lease = {};
};

/// How long one request about a claim may stay unanswered before the backend fails it (Errc::in_doubt): a sixth of its
/// lease, at most a second. A request about several claims has the shortest of their patiences. A lease of zero, which
/// only asks, puts no limit of its own on it.
constexpr Duration patience(milliseconds lease) {
  const Duration most = longest_patience;
  return lease > milliseconds::zero() ? std::min(Duration(lease) / 6, most) : most;
}

/// What the store says of one claim.
struct ClaimAnswer {
  enum class Standing {
    granted,  ///< it has what it asked for
    waiting,  ///< it stands in the line
    absent,   ///< there is no such claim: refused, expired, withdrawn, broken
  };

  Standing standing = Standing::absent;
  /// granted: the store's number of this grant, larger than of any earlier grant of the name, and below 2^56.
  /// waiting: no later grant of this claim has a smaller number. (The next number to be given, or the claim's own where
  /// it is fixed on joining the line.) So a push that is late by a whole life of the claim can be told from a true one:
  /// an acquire may be repeated after its claim has expired, and then begins a second life under the same id.
  std::uint64_t number = 0;
  /// The lease the store really gave, at least what was asked for. Without the lock_delay.
  milliseconds lease = {};
  /// The claim's lease is certain to run for `lease` from here on: when the request was sent, or earlier where the
  /// store proves less (ZooKeeper, etcd). Never when the reply came. Instant::min() in pushed answers: nothing new was
  /// proved.
  Instant armed_at = Instant::min();
  /// waiting: how many claims stand before it, holders included.
  std::uint32_t place = 0;
  /// waiting: ask again after at most this long, even if nothing is heard. Polling stores: their interval. Others: when
  /// the holder's lease ends, so that its death is noticed then. Zero: the next renewal is soon enough.
  milliseconds check_after = {};
  /// granted: somebody asks the holder to release it. `within` is what is left of the time it was given, at least zero.
  std::optional<ReleaseRequest> asked_to_release = {};
};

/// Receives unsolicited news about claims; the core implements it. Called under the monitor, outside of any call to the
/// store. News may be lost, repeated or late.
class ClaimEvents {
 public:
  virtual ~ClaimEvents() = default;
  /// The store granted a waiting claim and told us all about it (armed_at is Instant::min()).
  virtual void granted(const LockName& name, LockKind kind, ClaimId id, const ClaimAnswer& answer) = 0;
  /// Something may have changed for the claim: ask now. A hint, never a grant.
  virtual void check(const LockName& name, LockKind kind, ClaimId id) = 0;
};

/// The claims of one client in a store. Every request is answered within patience(lease), or fails then; what happens
/// later is told through ClaimEvents. Requests are executed in the order in which they were made, as far as the
/// connection holds.
class Claims {
 public:
  virtual ~Claims() = default;

  /// Joins the line, or is refused (`absent`) when busy. Repeating a request, with its id and mode, finds the claim
  /// where it stands and re-arms its lease.
  virtual void acquire(const ClaimRequest& request, Done<ClaimAnswer> done) = 0;

  /// Releases a granted claim or removes a waiting one. True if the claim was there. Never touches another claim.
  virtual void release(const ClaimRef& claim, Done<bool> done) = 0;

  /// Keeps claims alive, held or waiting, in as few round trips as the store allows, and says where each of them
  /// stands. Never re-creates one that is gone. Answers in the order of `claims`, which is good during the call only.
  virtual void renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) = 0;

  /// Makes a granted exclusive claim shared, without a gap.
  virtual void downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) = 0;
};

}  // namespace holdfast::spi

template <>
struct std::hash<holdfast::spi::ClaimId> {
  std::size_t operator()(const holdfast::spi::ClaimId& id) const noexcept { return id.high ^ id.low; }
};
