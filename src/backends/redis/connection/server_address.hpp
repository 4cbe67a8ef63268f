#pragma once

#include <string>

#include "kit/url/options.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// One server: how to reach it, and who we are there.
struct ServerAddress {
  enum class Transport { tcp, tls, unix_socket };

  struct Tls {
    kit::TlsFiles files = {};
    bool verify = true;
  };

  Transport transport = Transport::tcp;
  std::string host = {};  ///< a name or a number, without brackets
  std::string port = {};
  std::string path = {};  ///< of a unix socket
  std::string user = {};  ///< empty: the server's default user
  std::string password = {};
  int database = 0;
  Tls tls = {};

  /// For messages: "redis at 127.0.0.1:6379". Never a secret.
  std::string shown() const;
};

/// What answers there is no Redis server.
spi::Failure not_redis(const ServerAddress& address);

}  // namespace holdfast::redis
