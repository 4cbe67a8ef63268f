#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/redis/connection/dialer.hpp"
#include "backends/redis/connection/server_address.hpp"
#include "backends/redis/connection/tls.hpp"
#include "backends/redis/connection/tls_setup.hpp"
#include "backends/redis/protocol/command.hpp"
#include "backends/redis/protocol/reply.hpp"
#include "base/lifetime.hpp"
#include "base/random.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// One connection to one server. It connects on demand, reconnects with backoff, and completes TLS, AUTH and SELECT
/// before it reports itself up.
///
/// | state     | meaning                                  | leaves it by                         |
/// |-----------|------------------------------------------|--------------------------------------|
/// | resting   | nobody has called want() since the start | want()                               |
/// |           | or since it went down                    |                                      |
/// | pausing   | it waits after a failed attempt          | the timer                            |
/// | preparing | TLS only: certificates are being read    | they have been read                  |
/// | dialing   | it looks up the host and connects        | the socket is connected              |
/// | securing  | the TLS handshake is under way           | the handshake is complete            |
/// | greeting  | AUTH and SELECT were sent                | all of them succeeded                |
/// | up        | it is in use                             | drop(), an error, the end of stream  |
class Connection {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void connection_up() = 0;
    /// An attempt failed (`was_up` is false), or the connection broke. It is resting now.
    virtual void connection_down(const spi::Failure& why, bool was_up) = 0;
    /// A reply came while the connection was up.
    virtual void connection_received(Reply& reply) = 0;
  };

  /// REQUIRES: all outlive it, and the owner does not destroy it from inside a call.
  Connection(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup, Owner& owner);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Asks for the connection to come up. The owner is told the outcome, but never inside the call.
  void want();
  bool is_up() const { return state_ == State::up; }
  /// False if the server is known to have closed it. Does not wait. REQUIRES: it is up.
  bool is_open() const;
  bool is_resting() const { return state_ == State::resting; }
  /// Why it is not up yet, as a message says it.
  std::string hindrance() const;

  /// The bytes to send; what the caller appends is sent when the present task has ended. REQUIRES: it is up.
  std::string& out() {
    flush_soon();
    return out_;
  }
  /// Breaks the connection and tells the owner.
  void drop(const spi::Failure& why);
  /// Ends the connection without telling the owner.
  void close();

 private:
  enum class State { resting, pausing, preparing, dialing, securing, greeting, up };

  void attempt();
  void prepare_tls();
  void dial();
  void dialed(spi::Result<base::FileDescriptor> result);
  void begin_tls();
  void greet();
  void greeted(const Reply& reply);
  void become_up();

  void ready(spi::Loop::Ready what);
  void receive();
  bool digest(std::string_view bytes);
  void dispatch();
  void flush_soon();
  void flush();
  bool watch(bool writable);
  void tear_down();
  base::Duration next_pause();

  spi::Loop& loop_;
  const ServerAddress& address_;
  TlsSetup& tls_setup_;
  Owner& owner_;
  State state_ = State::resting;
  int life_ = 0;  ///< counts connections, so that a loop notices when its own has ended
  base::Instant attempt_ends_ = {};
  std::optional<TlsSetup::Preparation> preparation_;
  std::optional<Dialer> dialer_;
  base::FileDescriptor socket_;
  TlsContext::Pointer tls_context_;  ///< of the present attempt
  std::unique_ptr<TlsSession> tls_;
  std::unique_ptr<ReplyReader> reader_;
  std::string out_;   ///< to be sent, in plain text
  std::string wire_;  ///< to be sent, as it goes over the wire: encrypted, or the same
  std::size_t wire_sent_ = 0;
  bool flushing_soon_ = false;
  bool watching_writable_ = false;
  int greetings_ = 0;  ///< not answered yet
  int failures_ = 0;   ///< in a row
  base::Instant up_since_ = {};
  base::Instant not_before_ = base::Instant::min();
  base::Random random_;
  spi::Timer timer_;                              ///< the end of a pause, or of an attempt
  std::optional<spi::Expectation> establishing_;  ///< somebody must read while it comes up
  base::Lifetime lifetime_;
};

}  // namespace holdfast::redis
