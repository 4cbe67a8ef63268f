#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/etcd/keys.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/line.hpp"
#include "backends/etcd/link.hpp"
#include "backends/etcd/lookout.hpp"
#include "backends/etcd/sight.hpp"
#include "backends/etcd/slots.hpp"
#include "backends/etcd/stray_keys.hpp"
#include "kit/request_order.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Claims as keys: a claim is a key under a lease, and the line of a name is the order in which its keys were created.
class EtcdClaims final : public spi::Claims {
 public:
  /// REQUIRES: all outlive it.
  /// `client`: a number that no other client has.
  EtcdClaims(spi::Loop& loop, Link& link, const Keys& keys, kit::RequestOrder& order, Leases& leases, Lookout& lookout,
             std::uint64_t client)
      : loop_(loop),
        link_(link),
        keys_(keys),
        order_(order),
        leases_(leases),
        lookout_(lookout),
        stray_keys_(loop, link),
        slots_(client) {}

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

  void close() { stray_keys_.close(); }

 private:
  /// An acquire under way.
  struct Wanted;
  /// What it knows of the line.
  struct Glimpse;
  /// One claim of a renewal under way.
  struct Look;

  /// A claim that another one replaces just now.
  struct Replacement {
    bool was_there = false;
    bool released = false;      ///< by a request of its own, meanwhile
    spi::Done<bool> done = {};  ///< a release that wants to know
  };

  spi::Operation<spi::ClaimAnswer> acquiring(Wanted wanted);
  spi::Operation<spi::ClaimAnswer> joining(const Wanted& wanted);
  std::optional<Rooms::Room> room_for(const Wanted& wanted);
  spi::Operation<std::optional<spi::ClaimAnswer>> peeking(const Wanted& wanted, std::vector<Compare>& unless);
  static void add_glimpse(const Wanted& wanted, std::vector<KeyOperation>& operations);
  static Glimpse glimpse_in(const Wanted& wanted, std::span<const Outcome> outcomes);
  static Transaction join(const Wanted& wanted, const Record& record, std::int64_t lease, std::vector<Compare> unless);
  spi::Operation<spi::ClaimAnswer> joined(const Wanted& wanted, Line::Claim claim, Glimpse before, base::Instant armed);
  void note_replaced(const Wanted& wanted, std::span<const Outcome> outcomes);
  spi::Operation<spi::Nothing> withdrawing(const Wanted& wanted);
  spi::Operation<bool> releasing(ClaimKey claim, base::Duration patience);
  spi::Operation<bool> releasing_now(const ClaimKey& claim, base::Instant deadline);
  /// The life that began with that revision, or a later one that is found instead.
  spi::Operation<bool> deleting(const ClaimKey& claim, std::string key, std::int64_t create_revision, std::string door,
                                base::Instant deadline);
  std::string line_of(const ClaimKey& claim) const { return keys_.line(claim.name.text(), claim.kind); }
  Sight sight_of(const ClaimKey& claim, const std::string& key, std::int64_t create_revision) const;
  /// The keys that the claim may have: in its own line, in whatever mode it has joined that.
  std::vector<std::string> keys_of(const ClaimKey& claim) const;
  /// The same of any claim.
  spi::Operation<std::vector<std::string>> finding_keys(const ClaimKey& claim, base::Instant deadline);

  spi::Operation<std::vector<spi::ClaimAnswer>> renewing(std::vector<Look> looks);
  spi::Operation<spi::ClaimAnswer> renewing_one(ClaimKey claim, spi::milliseconds lease, base::Instant deadline);
  spi::Operation<std::vector<spi::ClaimAnswer>> looking(std::vector<Look>& looks, base::Instant deadline);
  spi::Operation<spi::Nothing> learning(std::vector<Look>& looks, base::Instant deadline);
  spi::Operation<spi::Nothing> seeking(Look& look, base::Instant deadline);
  spi::Operation<spi::Nothing> reading(std::vector<Look>& looks, base::Instant deadline);
  spi::Operation<spi::Nothing> reading_one(Look& look, base::Instant deadline);
  spi::Operation<spi::Nothing> moving(std::vector<Look>& looks, const std::vector<std::size_t>& which,
                                      std::vector<spi::ClaimAnswer>& answers, base::Instant deadline);
  spi::Operation<spi::ClaimAnswer> moving_one(Look look, base::Instant deadline);
  static Transaction changing(const Line::Claim& claim);

  spi::Operation<spi::ClaimAnswer> downgrading(ClaimKey claim, base::Duration patience);

  static base::Duration patience_for(spi::milliseconds lease);

  spi::Loop& loop_;
  Link& link_;
  const Keys& keys_;
  kit::RequestOrder& order_;
  Leases& leases_;
  Lookout& lookout_;
  StrayKeys stray_keys_;
  Slots slots_;
  std::map<ClaimKey, Replacement> replacements_;
};

}  // namespace holdfast::etcd
