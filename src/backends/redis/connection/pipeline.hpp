#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "backends/redis/connection/connection.hpp"
#include "backends/redis/connection/request.hpp"
#include "backends/redis/connection/server_address.hpp"
#include "backends/redis/protocol/reply.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// Sends the requests of one client to one server over one connection, without waiting for the replies before, and
/// fails each request that is not answered within its own patience. The server answers in the order of the requests.
///
/// The first request with a script on a connection carries the script's text, later ones only its digest. If the server
/// has forgotten the script, the request is sent again with the text, unless a later request about the same key, whose
/// order is to be kept, would overtake it by that. Then it fails as if it had never been sent.
class Pipeline final : private Connection::Owner {
 public:
  /// REQUIRES: all outlive it.
  Pipeline(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup);

  /// `task` runs once, when the first connection is up and before anything else is sent. So its requests are answered
  /// before all others.
  void when_first_up(base::Task task) { first_up_ = std::move(task); }
  /// `task` runs whenever the connection has come up again after the server said that it is a replica: another server
  /// may answer there now, which knows other things. Never inside a call.
  void when_server_changed(base::Callback<void()> task) { server_changed_ = std::move(task); }
  /// `on_reply` runs exactly once, and never inside the call.
  void send(Request request);
  /// Fails all requests, also those that are sent later, with Errc::closed.
  void close();
  /// The failure to report when a reply makes no sense as the answer to its request. The pipeline then checks whether
  /// the replies are still in order. REQUIRES: the call is made while the reply is delivered.
  spi::Failure not_understood();

  const ServerAddress& address() const { return address_; }

 private:
  struct Pending {
    Command command;
    const Script* script = nullptr;
    std::size_t about = 0;  ///< a hash of the key if the order is to be kept, else 0
    base::Instant deadline = {};
    base::Instant sent = {};
    Request::OnReply on_reply = {};  ///< empty: it was given up
    bool repeated = false;           ///< with the script's text
  };

  void connection_up() override;
  void connection_down(const spi::Failure& why, bool was_up) override;
  void connection_received(Reply& reply) override;

  void drop_if_closed();
  void write(Pending pending);
  void refused(Pending pending, const Reply& reply);
  bool overtaken(const Pending& pending) const;
  void time_out();
  void check_order();
  void set_timer(base::Instant due);
  void answer(Request::OnReply& on_reply, spi::Result<Reply*> result);
  spi::Failure closed() const;

  spi::Loop& loop_;
  const ServerAddress& address_;
  Connection connection_;
  std::deque<Pending> queue_;                ///< not sent yet
  std::deque<Pending> flight_;               ///< sent; the oldest is answered next
  std::unordered_set<const Script*> known_;  ///< the scripts that this connection has sent
  bool heard_ = false;                       ///< anything on this connection
  base::Instant last_heard_ = {};            ///< or when it came up
  base::Task first_up_;
  base::Callback<void()> server_changed_;
  bool was_replica_ = false;                  ///< the server, when it was last heard on a connection before this one
  std::optional<spi::Failure> last_failure_;  ///< of the attempts to connect since it was up
  spi::Timer timer_;
  std::uint64_t checks_ = 0;  ///< how often check_order() has asked
  bool checking_ = false;     ///< it waits for its answer on this connection
  bool closed_ = false;
};

}  // namespace holdfast::redis
