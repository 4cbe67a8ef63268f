#include "backends/redis/connection/server_address.hpp"

#include "kit/url/host.hpp"

namespace holdfast::redis {

std::string ServerAddress::shown() const {
  if (transport == Transport::unix_socket) return "redis at " + path;
  return "redis at " + kit::Host{host, port}.text();
}

spi::Failure not_redis(const ServerAddress& address) {
  const bool is_plain = address.transport == ServerAddress::Transport::tcp;
  return {Errc::store_failed, "what answers as " + address.shown() + " does not speak the protocol of Redis" +
                                  (is_plain ? "; if it wants TLS, write rediss:" : "")};
}

}  // namespace holdfast::redis
