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
#include "base/random.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// One connection to a server: made when it is wanted, made again after pauses that grow, inside TLS if the address
/// says so, and past the password and into the database before anybody uses it.
///
/// | state     | meaning                                  | leaves it by                         |
/// |-----------|------------------------------------------|--------------------------------------|
/// | resting   | nobody wants it, or nobody said so again | want()                               |
/// | pausing   | wanted, but the last attempt failed      | the timer                            |
/// | preparing | TLS only: certificates are being read    | they were read                       |
/// | dialing   | looking for the server, connecting       | the socket is connected              |
/// | securing  | TLS agrees                               | it has                               |
/// | greeting  | AUTH and SELECT were sent                | all were answered well               |
/// | up        | in use                                   | drop(), an error, the end            |
class Connection {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void connection_up() = 0;
    /// An attempt failed (`was_up` is false), or the connection broke. It rests now.
    virtual void connection_down(const spi::Failure& why, bool was_up) = 0;
    /// Only while it is up.
    virtual void connection_received(Reply& reply) = 0;
  };

  /// REQUIRES: all outlive it, and the owner does not destroy it from inside a call.
  Connection(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup, Owner& owner);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The owner hears, but never inside the call.
  void want();
  bool is_up() const { return state_ == State::up; }
  /// Whether the server has not closed it, as far as is known here without waiting. REQUIRES: it is up.
  bool is_open() const;
  bool is_resting() const { return state_ == State::resting; }
  /// Why it is not up yet, for messages.
  std::string hindrance() const;

  /// Whatever is appended is sent when the present task has ended. REQUIRES: it is up.
  std::string& out() {
    flush_soon();
    return out_;
  }
  /// Breaks the connection; the owner is told.
  void drop(const spi::Failure& why);
  /// The same, and the owner is not told.
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
  int life_ = 0;  ///< counts connections, so that a loop notices that its own has gone
  base::Instant attempt_ends_ = {};
  std::optional<TlsSetup::Preparation> preparation_;
  std::optional<Dialer> dialer_;
  base::FileDescriptor socket_;
  TlsContext::Pointer tls_context_;  ///< of the present attempt
  std::unique_ptr<TlsSession> tls_;
  std::unique_ptr<ReplyReader> reader_;
  std::string out_;   ///< what is to be said
  std::string wire_;  ///< what is to be sent: the same, unless TLS
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
  const std::shared_ptr<Connection*> self_;       ///< null once this object has gone
};

}  // namespace holdfast::redis
