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

/// The sessions of one client: the lease of a claim is that of its session, so there is one for each length of lease
/// that is wanted (or nearly), and most clients have one. All but the last are closed after a time without use.
class Sessions {
 public:
  /// REQUIRES: all outlive it.
  Sessions(spi::Loop& loop, const Address& address, const Nodes& nodes, Session::Owner& owner)
      : loop_(loop), address_(address), nodes_(nodes), owner_(owner), idle_timer_(loop, [this] { close_unused(); }) {}
  ~Sessions() { close(); }
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Opened if there is none; it may grant less than that.
  SessionPtr for_lease(spi::milliseconds lease);
  /// For what needs no lease.
  SessionPtr any();
  /// That of the node's owner, if it is one of ours.
  SessionPtr with_id(std::int64_t id) const;
  /// Why nobody has heard anything of the servers for too long.
  spi::Failure hindrance() const;
  /// Where a session writes to be known alive.
  std::string node_of(std::int64_t session) const;
  bool is_only_one() const { return sessions_.size() == 1; }
  void close();

  const Address& address() const { return address_; }
  const Nodes& nodes() const { return nodes_; }

  /// Makes the container `path` and what is above it.
  base::Coroutine<Reply> make_path(SessionPtr session, std::string path, Session::Lasting lasting);
  /// Writes to the session's own node. The reply's stat says when.
  base::Coroutine<Reply> beat(SessionPtr session);

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

/// Waits until requests can be sent in the session. Fails with the reason if it has ended, or if the call is over.
spi::Operation<spi::Nothing> until_up(SessionPtr session, CallPtr call);

}  // namespace holdfast::zookeeper
