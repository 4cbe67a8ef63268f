#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backends/redis/connection/connection.hpp"
#include "backends/redis/connection/server_address.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/layouts/known_claims.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// What a client is told although it did not ask: a second connection, which only listens. It exists while a claim
/// waits, while a claim is held for longer than a moment (somebody may ask for it, or evict it), while a register is
/// watched, and a little longer.
///
/// Messages are lost while it is not there. So its owner is told to catch up: whenever it is there again, and when it
/// hears of a claim to which something may have happened before that.
class Inbox final : private Connection::Owner {
 public:
  /// Claims may have been told something that was not heard.
  using CatchUp = base::Callback<void()>;

  /// Told about the channels of registers.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// From now on, changes are told. There may have been some before.
    virtual void listening(const std::string& channel) = 0;
    virtual void changed(const std::string& channel) = 0;
  };

  /// `client` is the last part of the channel's name. REQUIRES: all outlive it.
  Inbox(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup, const Keys& keys, std::string_view client,
        spi::ClaimEvents& events, Listener& listener, CatchUp catch_up);

  ~Inbox() override { *self_ = nullptr; }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// What the store said of a claim, when the request had been sent at `sent`.
  void note(const LockName& name, const spi::ClaimId& id, const spi::ClaimAnswer& answer, bool permits,
            base::Instant sent);
  void forget(const LockName& name, const spi::ClaimId& id);
  /// A claim that waited is granted: tells the core, once.
  void tell(const LockName& name, LockKind kind, const spi::ClaimId& id, spi::ClaimAnswer answer);
  const KnownClaims& claims() const { return claims_; }

  /// Listens to the channel of a register for at least `listening_time`. True if it does already; else the listener
  /// is told when it begins to.
  static constexpr base::Duration listening_time = std::chrono::seconds(5);
  bool listen(const std::string& channel);

  void close();

 private:
  struct Channel {
    base::Instant until = {};
    bool subscribed = false;
  };

  void connection_up() override;
  void connection_down(const spi::Failure& why, bool was_up) override;
  void connection_received(Reply& reply) override;

  void subscribe(const std::string& channel);
  void subscribed(const std::string& channel);
  void received(std::string_view message);
  void catch_up_soon();
  void reconsider();
  bool needed() const;
  void look_after(base::Duration duration);

  spi::Loop& loop_;
  const std::string own_channel_;
  spi::ClaimEvents& events_;
  Listener& listener_;
  CatchUp catch_up_;
  KnownClaims claims_;
  std::map<std::string, Channel, std::less<>> channels_;  ///< of registers
  bool held_for_long_ = false;
  bool closed_ = false;
  bool catching_up_ = false;
  base::Instant open_since_ = base::Instant::max();  ///< what was sent since then is followed by messages that we hear
  base::Instant needed_until_ = base::Instant::min();
  Connection connection_;
  spi::Timer timer_;                           ///< when to reconsider
  std::optional<spi::Expectation> attentive_;  ///< while something is held for long: nobody else reads for it
  const std::shared_ptr<Inbox*> self_;         ///< null once this object has gone
};

}  // namespace holdfast::redis
