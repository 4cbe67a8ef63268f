#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "backends/redis/connection/channels.hpp"
#include "backends/redis/connection/connection.hpp"
#include "backends/redis/connection/server_address.hpp"
#include "backends/redis/connection/tls_setup.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// The channels of one server, heard over a connection that only listens. It exists while there is a subscription, and
/// comes up again, with all subscriptions, after it broke.
class Subscriber final : public Channels, private Connection::Owner {
 public:
  /// REQUIRES: all outlive it.
  Subscriber(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup);

  void subscribe(const std::string& channel, Listener& listener) override;
  void unsubscribe(const std::string& channel) override;
  base::Instant listening_since(const std::string& channel) const override;

  /// Ends all subscriptions, also later ones.
  void close();

 private:
  struct Subscription {
    Listener* listener = nullptr;
    base::Instant since = base::Instant::max();  ///< the server has confirmed it; max: not on this connection
  };

  void connection_up() override;
  void connection_down(const spi::Failure& why, bool was_up) override;
  void connection_received(Reply& reply) override;
  void confirmed(const std::string& channel);

  spi::Loop& loop_;
  std::map<std::string, Subscription, std::less<>> subscriptions_;
  bool closed_ = false;
  Connection connection_;
};

}  // namespace holdfast::redis
