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

/// Everything that one client asks a server, over one connection: sent at once, answered in order, each within its own
/// patience.
///
/// The first time that a connection uses a script it sends the text, later only the digest. A server that forgets its
/// scripts meanwhile is given the text, unless something about the same key has been sent since whose order is kept:
/// sent again, the request would come after what followed it. Then it fails as if it had never been sent.
class Pipeline final : private Connection::Owner {
 public:
  /// REQUIRES: all outlive it.
  Pipeline(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup);

  /// Runs once, when the first connection is up and before anything else is sent: whoever reads the first answer has
  /// then read what this was answered, too.
  void when_first_up(base::Task task) { first_up_ = std::move(task); }
  /// Runs, never inside a call, after the server turned out to be a replica and the connection was made anew: whoever is
  /// there now may know other things.
  void when_server_changed(base::Callback<void()> task) { server_changed_ = std::move(task); }
  /// Never answered inside the call.
  void send(Request request);
  /// Answers everything (Errc::closed), also what comes later.
  void close();
  /// For a reply that makes no sense as the answer to its request: what to tell the caller. Whether the replies still
  /// are in order is then checked. REQUIRES: the call is made while the reply is delivered.
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
