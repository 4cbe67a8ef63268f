#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/flow.hpp"
#include "backends/zookeeper/known_claims.hpp"
#include "backends/zookeeper/lines.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "kit/request_order.hpp"
#include "spi/backend.hpp"
#include "spi/claims.hpp"

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
    *alive_ = false;
    long_held_timer_.cancel();
  }

  void node_changed(Session& session, const std::string& path);
  void session_resumed(Session& session);
  void session_ended(Session& session);

 private:
  using AcquireCall = CallPtr<spi::ClaimAnswer>;
  using RenewCall = CallPtr<std::vector<spi::ClaimAnswer>>;

  /// What an acquire wants, kept for as long as it takes.
  struct Wish {
    ClaimKey key;
    spi::Mode mode = {};
    spi::milliseconds lease = {};
    spi::WhenBusy when_busy = spi::WhenBusy::wait;
    std::optional<spi::ClaimId> replaces = {};
    std::shared_ptr<const ClientIdentity> client = {};
    std::string reason = {};

    bool permits() const { return mode.kind == ClaimMode::permits; }
    bool replaces_another() const { return replaces && *replaces != key.id; }
  };
  struct Renewal {
    ClaimKey key;
    spi::milliseconds lease = {};
  };
  struct FoundClaim {
    KnownClaim claim = {};
    bool is_ours = false;  ///< of a session of this client
    std::uint32_t place = 0;
    Reply own = {};  ///< its node
  };
  /// A claim's new node, and the line with it.
  struct Joined {
    Reply created = {};
    SeenLine seen = {};
  };
  /// Where a claim stands, or why nobody knows.
  using Standing = spi::Result<spi::ClaimAnswer>;

  Detached run_acquire(AcquireCall call, Wish wish);
  Detached run_release(CallPtr<bool> call, ClaimKey key);
  Detached run_renew(RenewCall call, std::vector<Renewal> claims);
  Detached run_look(ClaimKey key);
  Detached run_listen(ClaimKey key);
  Detached run_downgrade(AcquireCall call, ClaimKey key);

  // claims_join.cpp
  Flow<Standing> join(AcquireCall call, SessionPtr session, Wish wish, kit::RequestOrder::Place& place);
  Flow<std::optional<Standing>> look_before(AcquireCall call, SessionPtr session, Wish wish, bool replaces);
  static Flow<Joined> make_node(SessionPtr session, std::string line, Wish wish, std::optional<KnownClaim> replaced);
  static Sent create_node(Session& session, const std::string& line, const Wish& wish,
                          const std::optional<KnownClaim>& replaced);
  Flow<Standing> settle(SessionPtr session, Wish wish, SeenLine seen);
  static spi::Failure different_total(const Wish& wish, const Line& line);
  bool can_be_followed(const std::string& line) const;

  // claims_find.cpp
  Flow<std::optional<Standing>> find_again(AcquireCall call, SessionPtr session, Wish wish);
  Flow<spi::Result<std::optional<FoundClaim>>> find(SessionPtr session, ClaimKey key);
  spi::ClaimAnswer answer_for(FoundClaim& found) const;

  // claims_leave.cpp
  Flow<spi::Result<bool>> leave(SessionPtr session, ClaimKey key);

  // claims_stand.cpp
  Flow<Standing> stand(ClaimKey key, SeenLine seen);
  static spi::ClaimAnswer answer_for(const KnownClaim& claim);
  void note_data(KnownClaim& claim, const Reply& own, spi::ClaimAnswer& answer) const;
  spi::Failure explain(const Reply& reply, bool doubtful) const {
    return zookeeper::explain(reply, sessions_.address(), doubtful);
  }

  // claims_heard.cpp
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
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::zookeeper
