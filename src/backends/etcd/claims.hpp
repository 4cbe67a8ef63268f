#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/etcd/claim_tracker.hpp"
#include "backends/etcd/key_slots.hpp"
#include "backends/etcd/keys.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/line.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/standing_query.hpp"
#include "backends/etcd/stray_keys.hpp"
#include "kit/request_order.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Keeps claims as keys: a claim is a key under a lease, and a line is the order in which its keys were created. Nobody
/// grants anything; each client reads how its claims stand.
class EtcdClaims final : public spi::Claims {
 public:
  /// `client`: a number that no other client has. REQUIRES: all references outlive it.
  EtcdClaims(spi::Loop& loop, ServerCalls& calls, const Keys& keys, kit::RequestOrder& order, Leases& leases,
             ClaimTracker& tracker, std::uint64_t client)
      : loop_(loop),
        calls_(calls),
        keys_(keys),
        order_(order),
        leases_(leases),
        tracker_(tracker),
        stray_keys_(loop, calls),
        slots_(client) {}

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

  void close() { stray_keys_.close(); }

 private:
  // claims_steps.hpp describes these three.
  struct Wanted;
  struct LineView;
  struct Look;

  /// A claim that an acquire under way replaces.
  struct Replacement {
    bool was_there = false;
    bool released = false;      ///< a release of its own has come meanwhile
    spi::Done<bool> done = {};  ///< that release waits for the outcome
  };

  spi::Operation<spi::ClaimAnswer> acquiring(Wanted wanted);
  spi::Operation<spi::ClaimAnswer> joining(const Wanted& wanted);
  std::optional<SemaphoreCache::Semaphore> cached_for(const Wanted& wanted);
  spi::Operation<std::optional<spi::ClaimAnswer>> peeking(const Wanted& wanted, std::vector<Compare>& unless);
  static void add_line_view(const Wanted& wanted, std::vector<KeyOperation>& operations);
  static LineView line_view_in(const Wanted& wanted, std::span<const Outcome> outcomes);
  static Transaction join(const Wanted& wanted, const Record& record, std::int64_t lease, std::vector<Compare> unless);
  spi::Operation<spi::ClaimAnswer> joined(const Wanted& wanted, Line::Claim claim, LineView before,
                                          base::Instant armed);
  void note_replaced(const Wanted& wanted, std::span<const Outcome> outcomes);
  spi::Operation<spi::Nothing> withdrawing(const Wanted& wanted);
  spi::Operation<bool> releasing(ClaimKey claim, base::Duration patience);
  spi::Operation<bool> releasing_now(const ClaimKey& claim, base::Instant deadline);
  /// Deletes the key that was created at that revision, or at a later one if it was created again.
  spi::Operation<bool> deleting(const ClaimKey& claim, std::string key, std::int64_t create_revision,
                                std::string joined_mark, base::Instant deadline);
  /// The claim does not exist any more, and no request about it will be made.
  void has_ended(const ClaimKey& claim);
  void leave_no_key(const ClaimKey& claim);
  std::string line_of(const ClaimKey& claim) const { return keys_.line(claim.name.text(), claim.kind); }
  StandingQuery query_for(const ClaimKey& claim, const std::string& key, std::int64_t create_revision) const;
  /// The keys that a claim of this client may have in its line, in whatever mode it has joined.
  std::vector<std::string> keys_of(const ClaimKey& claim) const;
  /// The same for any claim. Another client's claim is looked for in its line.
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
  ServerCalls& calls_;
  const Keys& keys_;
  kit::RequestOrder& order_;
  Leases& leases_;
  ClaimTracker& tracker_;
  StrayKeys stray_keys_;
  KeySlots slots_;
  std::map<ClaimKey, Replacement> replacements_;
};

}  // namespace holdfast::etcd
