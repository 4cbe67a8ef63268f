#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

namespace holdfast::kit {

/// Where a socket may be connected to.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

/// The addresses of a host, in the order in which the system prefers them.
struct HostAddresses {
  int error = 0;  ///< of getaddrinfo(); then there are no addresses
  std::vector<SocketAddress> addresses = {};

  /// `host` must be a number. Never blocks.
  static HostAddresses of_number(const std::string& host, const std::string& port);
  /// `host` may be a name. Blocks: call it through Loop::run_blocking.
  static HostAddresses look_up(const std::string& host, const std::string& port);

  /// What is wrong, for messages. REQUIRES: there is an error.
  std::string complaint() const;
};

/// Families alternate and each keeps its own order, so that a family which leads nowhere delays the others by one
/// address and not by all of its own (RFC 8305, section 4).
std::vector<SocketAddress> with_alternating_families(const std::vector<SocketAddress>& addresses);

}  // namespace holdfast::kit
