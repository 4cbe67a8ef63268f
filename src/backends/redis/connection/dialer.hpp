#pragma once

#include <optional>

#include "backends/redis/connection/server_address.hpp"
#include "base/file_descriptor.hpp"
#include "base/lifetime.hpp"
#include "kit/net/connector.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// Looks up the host of a server and connects a socket to it. Destroying the dialer cancels that.
class Dialer {
 public:
  using Done = kit::Connector::Done;

  /// Connecting fails at `deadline`; looking up the name may take longer. `done` runs once, never inside the
  /// constructor, and may destroy the dialer. REQUIRES: all outlive it.
  Dialer(spi::Loop& loop, const ServerAddress& address, base::Instant deadline, Done done);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

 private:
  void resolve();
  void resolved(kit::HostAddresses host);
  void use_unix_socket();
  void connect(std::vector<kit::SocketAddress> addresses);
  void finish(spi::Result<base::FileDescriptor> result);

  spi::Loop& loop_;
  const ServerAddress& address_;
  const base::Instant deadline_;
  Done done_;
  std::optional<kit::Connector> connector_;
  base::Lifetime lifetime_;
};

}  // namespace holdfast::redis
