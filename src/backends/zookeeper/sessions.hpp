#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/session.hpp"

namespace holdfast::zookeeper {

using SessionPtr = std::shared_ptr<Session>;

/// The sessions of one client. The lease of a claim is that of its session, so there is a session for each length of
/// lease in use (nearly equal ones share it); most clients have one. All but the last are closed when they have not
/// been used for a while.
class Sessions {
 public:
  /// REQUIRES: all outlive it.
  Sessions(spi::Loop& loop, const Address& address, const Nodes& nodes, Session::Owner& owner)
      : loop_(loop), address_(address), nodes_(nodes), owner_(owner), idle_timer_(loop, [this] { close_unused(); }) {}
  ~Sessions() { close(); }
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// A session for claims with such a lease, opened if there is none. The servers may grant it less.
  SessionPtr for_lease(spi::milliseconds lease);
  /// A session for requests that need no lease.
  SessionPtr any();
  /// The session with that id, if it is one of ours; otherwise null.
  SessionPtr with_id(std::int64_t id) const;
  /// Why a request could not be sent for too long.
  spi::Failure why_not_sent() const;
  /// The node that a session writes to, to show that it is alive.
  std::string node_of(std::int64_t session) const;
  bool is_only_one() const { return sessions_.size() == 1; }
  void close();

  const Address& address() const { return address_; }
  const Nodes& nodes() const { return nodes_; }

  /// Creates the node `path` and those above it.
  base::Coroutine<Reply> make_path(SessionPtr session, std::string path, Session::Lasting lasting);
  /// Writes to the session's own node. The reply's stat says when.
  base::Coroutine<Reply> heartbeat(SessionPtr session);

 private:
  void forget_ended();
  void close_unused();
  void close_unused_later();

  spi::Loop& loop_;
  const Address& address_;
  const Nodes& nodes_;
  Session::Owner& owner_;
  std::vector<SessionPtr> sessions_;
  spi::Timer idle_timer_;
  bool closed_ = false;
};

/// Waits until requests can be sent in the session. Fails with the reason if the session has ended, or the call is
/// over.
spi::Operation<spi::Nothing> until_up(SessionPtr session, CallPtr call);

}  // namespace holdfast::zookeeper
