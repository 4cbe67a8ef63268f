#pragma once

#include <sys/types.h>

#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/zookeeper/address.hpp"
#include "backends/zookeeper/connect_attempts.hpp"
#include "backends/zookeeper/connect_trouble.hpp"
#include "backends/zookeeper/lease_proof.hpp"
#include "backends/zookeeper/line_cache.hpp"
#include "backends/zookeeper/pings.hpp"
#include "backends/zookeeper/reply.hpp"
#include "base/file_descriptor.hpp"
#include "base/future.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

struct _zhandle;  // NOLINT(bugprone-reserved-identifier): the library's name

namespace holdfast::zookeeper {

struct ServerList;

/// One session with an ensemble, through ZooKeeper's C library, which our loop drives. It is opened once, survives
/// broken connections, and ends for good when the servers say so, or when it is closed.
///
/// | state      | meaning                                     | ends when                          |
/// |------------|---------------------------------------------|------------------------------------|
/// | resolving  | the hosts' names are being looked up        | their addresses are known          |
/// | connecting | for the first time or again                 | a server has accepted the session  |
/// | up         | requests can be sent                        | the connection breaks              |
/// | ended      | expired, refused or closed                  |                                    |
///
/// Classes without I/O make its decisions: LeaseProof (since when the lease runs), ConnectAttempts (which address is
/// tried for how long), Pings (when a silent server is left) and ConnectTrouble (why it is not up).
class Session : public std::enable_shared_from_this<Session> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    /// A node that is watched has changed or was removed, or its children have changed.
    virtual void node_changed(Session& session, const std::string& path) = 0;
    /// The connection broke and was made again: some news may have been lost.
    virtual void session_resumed(Session& session) = 0;
    virtual void session_ended(Session& session) = 0;
  };

  enum class Lasting : std::uint8_t { persistent, container, ephemeral, ephemeral_sequential };
  enum class Watching : std::uint8_t { no, yes };

  /// A part of one change: all parts are executed, or none.
  struct Part {
    enum class Kind : std::uint8_t { create, set, remove };
    Kind kind = Kind::create;
    std::string path = {};
    std::string data = {};
    Lasting lasting = Lasting::ephemeral;
  };

  static constexpr std::int32_t any_version = -1;

  /// Contacts nobody before it is opened. REQUIRES: all outlive it.
  Session(spi::Loop& loop, const Address& address, spi::milliseconds timeout, Owner& owner);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void open();
  /// Ends it. Every request that is unanswered is answered (Outcome::lost).
  void close();

  bool is_up() const { return state_ == State::up; }
  bool has_ended() const { return state_ == State::ended; }
  std::int64_t id() const;
  spi::milliseconds asked() const { return asked_; }
  /// The timeout that the servers have granted; zero before it was up for the first time.
  spi::milliseconds timeout() const { return granted_; }
  /// The lease is certain to run for timeout() from here on.
  base::Instant proved_since() const { return proof_.since(); }
  /// Somebody uses it now.
  void used() { used_at_ = loop_.now(); }
  base::Instant unused_since() const { return used_at_; }
  /// How many of the pointers to it belong to its own requests.
  long own_uses() const { return ping_is_unanswered() ? 1 : 0; }
  /// Why it is not up, or why it has ended.
  spi::Failure why_not_up() const;

  /// A coroutine can await it: it goes on when the session is up or has ended, or an attempt to connect has failed.
  struct Change {
    Session& session;
    bool await_ready() const noexcept { return session.is_up() || session.has_ended(); }
    void await_suspend(std::coroutine_handle<> waiter) const { session.waiters_.push_back(waiter); }
    void await_resume() const noexcept {}
  };
  Change change() { return {*this}; }

  // Requests. They are sent at once and executed in the order in which they were made; while it is not up, they are
  // not sent.
  base::Future<Reply> create(const std::string& path, std::string_view data, Lasting lasting);
  base::Future<Reply> remove(const std::string& path);
  base::Future<Reply> set(const std::string& path, std::string_view data, std::int32_t version = any_version);
  base::Future<Reply> get(const std::string& path, Watching watching = Watching::no);
  base::Future<Reply> exists(const std::string& path, Watching watching = Watching::no);
  base::Future<Reply> children(const std::string& path, Watching watching = Watching::no);
  /// Requests after this one see whatever anybody has done before it.
  base::Future<Reply> sync(const std::string& path);
  /// One change of several parts. The reply's text is the path of the first new node, its stat that of the last node
  /// set.
  base::Future<Reply> together(const std::vector<Part>& parts);

  LineCache& line_cache() { return line_cache_; }

  struct Callbacks;

 private:
  enum class State : std::uint8_t { unopened, resolving, connecting, up, ended };
  struct Exchange;

  void find_hosts();
  void connect(const ServerList& servers);
  void drive();
  void drive_soon();
  void ready(spi::Loop::Ready what);
  void watch(int descriptor, int interest);
  void unwatch();
  void ping();
  bool ping_is_unanswered() const { return last_ping_ && !last_ping_->is_answered(); }
  void leave_silent_server();
  void begin_attempt();
  void attempt_takes_long();
  bool is_connected() const;
  void attempt_failed(bool was_connected, int system_error);
  void connected();
  void disconnected();
  void end(spi::Failure why);
  void resume_waiters();
  spi::Failure not_zookeeper() const;
  void release_handle();

  Exchange* begin(const base::Future<Reply>& reply, bool writes);
  void sent_or_not(Exchange* exchange, int code);

  spi::Loop& loop_;
  const Address& address_;
  Owner& owner_;
  const spi::milliseconds asked_;
  spi::milliseconds granted_ = {};
  State state_ = State::unopened;
  _zhandle* handle_ = nullptr;
  int inside_ = 0;  ///< calls of the library that may call us back
  const pid_t process_;
  LeaseProof proof_;
  LineCache line_cache_;
  ConnectAttempts attempts_;
  ConnectTrouble trouble_;
  Pings pings_;
  std::optional<base::Future<Reply>> last_ping_;
  bool was_up_ = false;
  base::Instant used_at_ = {};
  std::optional<spi::Failure> why_ended_;
  std::deque<std::coroutine_handle<>> waiters_;
  base::FileDescriptor watched_;  ///< a copy of the library's, which may close its own at any time
  int watched_interest_ = 0;
  bool driving_soon_ = false;
  spi::Timer timer_;  ///< when the library wants to be called
  spi::Timer ping_timer_;
  spi::Timer attempt_timer_;                      ///< when the present attempt to connect takes too long
  std::optional<spi::Expectation> establishing_;  ///< somebody must read while it comes up
};

}  // namespace holdfast::zookeeper
