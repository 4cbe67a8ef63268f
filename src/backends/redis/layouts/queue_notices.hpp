#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/redis/connection/channels.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/layouts/known_claims.hpp"
#include "base/lifetime.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// What a client is told about its claims although it did not ask: that one which waits was granted, or that it is
/// worth asking about one. The scripts of other clients publish it on this client's channel.
///
/// The client listens while one of its claims waits, while one is held for longer than a moment (somebody may ask for
/// it, or evict it), and a little longer. What is published while it does not listen is lost. So the claims catch up,
/// that is, ask about themselves: whenever the client begins to listen, and when it hears of a claim to which something
/// may have happened before that.
class QueueNotices final : private Channels::Listener {
 public:
  /// Something may have been published about the claims that was not heard.
  using CatchUp = base::Callback<void()>;

  /// `client` is the last part of the channel's name. REQUIRES: all outlive it.
  QueueNotices(spi::Loop& loop, Channels& channels, const Keys& keys, std::string_view client, spi::ClaimEvents& events,
               CatchUp catch_up);
  QueueNotices(const QueueNotices&) = delete;
  QueueNotices& operator=(const QueueNotices&) = delete;

  /// What the store said of a claim, when the request had been sent at `sent`.
  void note(const spi::ClaimRef& claim, const spi::ClaimAnswer& answer, base::Instant sent);
  void forget(const spi::ClaimRef& claim);
  /// A claim that waited is granted: tells the core, once.
  void tell(const spi::ClaimRef& claim, spi::ClaimAnswer answer);
  const KnownClaims& claims() const { return claims_; }
  /// Soon, and once however often it is called until then.
  void catch_up_soon();

  void close();

 private:
  void listening(const std::string& channel) override;
  void heard(const std::string& channel, std::string_view message) override;

  void listen();
  void reconsider();
  void reconsider_within(base::Duration duration);

  spi::Loop& loop_;
  Channels& channels_;
  const std::string channel_;
  spi::ClaimEvents& events_;
  CatchUp catch_up_;
  KnownClaims claims_;
  bool listens_ = false;
  bool held_for_long_ = false;  ///< any of the claims
  bool catching_up_ = false;
  bool closed_ = false;
  base::Instant needed_until_ = base::Instant::min();
  spi::Timer timer_;                           ///< when to reconsider whether to listen
  std::optional<spi::Expectation> attentive_;  ///< while something is held for long: nobody else reads for it
  base::Lifetime lifetime_;
};

}  // namespace holdfast::redis
