#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/known_claims.hpp"
#include "backends/zookeeper/line_snapshot.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "base/lifetime.hpp"
#include "kit/request_order.hpp"
#include "spi/backend.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::zookeeper {

/// Claims as ephemeral sequential nodes (nodes.hpp). Nobody grants anything: every client reads the line of its claim,
/// finds out whether it is granted, and otherwise watches the node whose removal it waits for.
///
/// Requests about one name are sent in the order in which they were made (order_by_name_). Most of them leave that queue
/// as soon as everything is sent, because the servers execute the requests of one session in order; until they are
/// answered they stay in the queue of the claim that they are about (order_by_claim_).
class NodeClaims final : public spi::Claims {
 public:
  /// REQUIRES: all outlive it.
  NodeClaims(const spi::BackendContext& context, Sessions& sessions, Calls& calls, kit::RequestOrder& order_by_name)
      : loop_(context.loop),
        events_(context.events),
        sessions_(sessions),
        nodes_(sessions.nodes()),
        calls_(calls),
        order_by_name_(order_by_name),
        watch_timer_(context.loop, [this] { watch_long_held(); }) {}

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

  /// From now on the core hears of nothing.
  void close() {
    closed_ = true;
    watch_timer_.cancel();
  }

  void node_changed(Session& session, const std::string& path);
  void session_resumed(Session& session);
  void session_ended(Session& session);

 private:
  /// An acquire under way.
  struct Wanted {
    ClaimKey key;
    spi::Mode mode = {};
    spi::milliseconds lease = {};
    spi::WhenBusy when_busy = spi::WhenBusy::wait;
    std::optional<spi::ClaimId> replaces = {};
    std::shared_ptr<const ClientIdentity> client = {};
    std::string reason = {};

    bool replaces_another() const { return replaces && *replaces != key.id; }
    /// REQUIRES: it replaces another.
    ClaimKey replaced_key() const { return {key.name, key.kind, *replaces}; }
  };
  struct Renewal {
    ClaimKey key;
    spi::milliseconds lease = {};
  };
  /// A claim that was looked for in its line.
  struct FoundClaim {
    KnownClaim claim = {};
    bool is_ours = false;  ///< a session of this client has it
    std::uint32_t place = 0;
    Reply own = {};  ///< the data of its node
    LineSnapshot snapshot = {};
  };
  /// A claim's new node, and its line, read after the node was created.
  struct Joined {
    Reply created = {};
    LineSnapshot snapshot = {};
  };
  struct RecentGrant {
    base::Instant since;
    ClaimKey key;
  };

  // claims_acquire.cpp
  spi::Operation<spi::ClaimAnswer> acquiring(CallPtr call, Wanted wanted);
  spi::Operation<spi::ClaimAnswer> joining(CallPtr call, SessionPtr session, const Wanted& wanted,
                                           kit::RequestOrder::Place& place);
  spi::Operation<std::optional<spi::ClaimAnswer>> finding_again(CallPtr call, SessionPtr session, const Wanted& wanted);
  spi::Operation<std::optional<spi::ClaimAnswer>> peeking(CallPtr call, SessionPtr session, const Wanted& wanted,
                                                          bool replaces);
  static base::Coroutine<Joined> making_node(SessionPtr session, const std::string& line, const Wanted& wanted,
                                             const std::optional<KnownClaim>& replaced);
  static base::Future<Reply> create_node(Session& session, const std::string& line, const Wanted& wanted,
                                         const std::optional<KnownClaim>& replaced);
  spi::Operation<spi::ClaimAnswer> settling(SessionPtr session, const Wanted& wanted, LineSnapshot snapshot);
  static spi::Failure different_total(const Wanted& wanted, const Line& line);
  bool can_be_followed(const std::string& line) const;

  // claims_release.cpp
  spi::Operation<bool> releasing(CallPtr call, ClaimKey key);
  spi::Operation<bool> removing(SessionPtr session, ClaimKey key);

  // claims_renew.cpp
  spi::Operation<std::vector<spi::ClaimAnswer>> renewing(CallPtr call, std::vector<Renewal> claims);

  // claims_downgrade.cpp
  spi::Operation<spi::ClaimAnswer> downgrading(CallPtr call, ClaimKey key);

  // claims_refresh.cpp
  spi::Operation<std::optional<FoundClaim>> finding(SessionPtr session, ClaimKey key);
  spi::ClaimAnswer answer_for(FoundClaim& found) const;
  spi::Operation<spi::ClaimAnswer> refreshing(ClaimKey key, LineSnapshot snapshot);
  static spi::ClaimAnswer answer_for(const KnownClaim& claim);
  bool is_stray(const ClaimKey& key, const std::string& path, const Reply& read) const;
  void note_release_request(KnownClaim& claim, const Reply& own, spi::ClaimAnswer& answer) const;
  spi::Failure explain(const Reply& reply, bool doubtful) const {
    return zookeeper::explain(reply, sessions_.address(), doubtful);
  }

  // claims_watch.cpp
  spi::Operation<spi::Nothing> checking(ClaimKey key);
  spi::Operation<spi::Nothing> watching_held(ClaimKey key);
  void check_soon(const ClaimKey& key);
  void watch_later(const ClaimKey& key);
  void watch_long_held();

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  Sessions& sessions_;
  const Nodes& nodes_;
  Calls& calls_;
  kit::RequestOrder& order_by_name_;
  KnownClaims known_;
  kit::RequestOrder order_by_claim_;  ///< a request that has left order_by_name_ early stays here until it is answered
  std::deque<RecentGrant> recent_grants_;  ///< the oldest first
  spi::Timer watch_timer_;
  bool closed_ = false;
  base::Lifetime lifetime_;
};

}  // namespace holdfast::zookeeper
