#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/known_claims.hpp"
#include "backends/zookeeper/lines.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "base/lifetime.hpp"
#include "kit/request_order.hpp"
#include "spi/backend.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::zookeeper {

/// Claims as ephemeral sequential nodes (nodes.hpp). Nobody grants anything: every client looks at the line, and
/// watches the node whose end it waits for.
class NodeClaims final : public spi::Claims {
 public:
  /// REQUIRES: all outlive it.
  NodeClaims(const spi::BackendContext& context, Sessions& sessions, Calls& calls, kit::RequestOrder& names)
      : loop_(context.loop),
        events_(context.events),
        sessions_(sessions),
        nodes_(sessions.nodes()),
        calls_(calls),
        names_(names),
        long_held_timer_(context.loop, [this] { listen_to_long_held(); }) {}

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

  /// Nothing is told any more.
  void close() {
    closed_ = true;
    long_held_timer_.cancel();
  }

  void node_changed(Session& session, const std::string& path);
  void session_resumed(Session& session);
  void session_ended(Session& session);

 private:
  /// What an acquire wants, kept for as long as it takes.
  struct Wish {
    ClaimKey key;
    spi::Mode mode = {};
    spi::milliseconds lease = {};
    spi::WhenBusy when_busy = spi::WhenBusy::wait;
    std::optional<spi::ClaimId> replaces = {};
    std::shared_ptr<const ClientIdentity> client = {};
    std::string reason = {};

    bool replaces_another() const { return replaces && *replaces != key.id; }
    /// REQUIRES: it replaces another.
    ClaimKey replaced_key() const { return {*replaces, key.name, key.kind}; }
  };
  struct Renewal {
    ClaimKey key;
    spi::milliseconds lease = {};
  };
  struct FoundClaim {
    KnownClaim claim = {};
    bool is_ours = false;  ///< of a session of this client
    std::uint32_t place = 0;
    Reply own = {};      ///< its node
    SeenLine seen = {};  ///< the line in which it was found
  };
  /// A claim's new node, and the line with it.
  struct Joined {
    Reply created = {};
    SeenLine seen = {};
  };
  // claims_join.cpp
  spi::Operation<spi::ClaimAnswer> acquiring(CallPtr call, Wish wish);
  spi::Operation<spi::ClaimAnswer> joining(CallPtr call, SessionPtr session, const Wish& wish,
                                           kit::RequestOrder::Place& place);
  spi::Operation<std::optional<spi::ClaimAnswer>> finding_again(CallPtr call, SessionPtr session, const Wish& wish);
  spi::Operation<std::optional<spi::ClaimAnswer>> looking_before(CallPtr call, SessionPtr session, const Wish& wish,
                                                                 bool replaces);
  static base::Coroutine<Joined> making_node(SessionPtr session, const std::string& line, const Wish& wish,
                                             const std::optional<KnownClaim>& replaced);
  static base::Future<Reply> create_node(Session& session, const std::string& line, const Wish& wish,
                                         const std::optional<KnownClaim>& replaced);
  spi::Operation<spi::ClaimAnswer> settling(SessionPtr session, const Wish& wish, SeenLine seen);
  static spi::Failure different_total(const Wish& wish, const Line& line);
  bool can_be_followed(const std::string& line) const;

  // claims_leave.cpp
  spi::Operation<bool> releasing(CallPtr call, ClaimKey key);
  spi::Operation<bool> leaving(SessionPtr session, ClaimKey key);

  // claims_renew.cpp
  spi::Operation<std::vector<spi::ClaimAnswer>> renewing(CallPtr call, std::vector<Renewal> claims);

  // claims_downgrade.cpp
  spi::Operation<spi::ClaimAnswer> downgrading(CallPtr call, ClaimKey key);

  // claims_stand.cpp
  spi::Operation<std::optional<FoundClaim>> finding(SessionPtr session, ClaimKey key);
  spi::ClaimAnswer answer_for(FoundClaim& found) const;
  spi::Operation<spi::ClaimAnswer> standing(ClaimKey key, SeenLine seen);
  static spi::ClaimAnswer answer_for(const KnownClaim& claim);
  void note_data(KnownClaim& claim, const Reply& own, spi::ClaimAnswer& answer) const;
  spi::Failure explain(const Reply& reply, bool doubtful) const {
    return zookeeper::explain(reply, sessions_.address(), doubtful);
  }

  // claims_heard.cpp
  spi::Operation<spi::Nothing> looking(ClaimKey key);
  spi::Operation<spi::Nothing> listening(ClaimKey key);
  void check_soon(const ClaimKey& key);
  void listen_later(const ClaimKey& key);
  void listen_to_long_held();

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  Sessions& sessions_;
  const Nodes& nodes_;
  Calls& calls_;
  kit::RequestOrder& names_;
  KnownClaims known_;
  kit::RequestOrder claims_;  ///< a request that has left names_ early stays here until it is answered
  struct Held {
    base::Instant since;
    ClaimKey key;
  };
  std::deque<Held> held_;  ///< lately granted, the oldest first
  spi::Timer long_held_timer_;
  bool closed_ = false;
  base::Lifetime lifetime_;
};

}  // namespace holdfast::zookeeper
