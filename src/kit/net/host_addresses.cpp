#include "kit/net/host_addresses.hpp"

#include <netdb.h>

#include <algorithm>
#include <cstring>

namespace holdfast::kit {
namespace {

HostAddresses find(const std::string& host, const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  HostAddresses host_addresses;
  host_addresses.error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (host_addresses.error != 0) return host_addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.length = each->ai_addrlen;
    host_addresses.addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return host_addresses;
}

}  // namespace

HostAddresses HostAddresses::of_number(const std::string& host, const std::string& port) {
  return find(host, port, AI_NUMERICHOST);
}

HostAddresses HostAddresses::look_up(const std::string& host, const std::string& port) {
  return find(host, port, AI_ADDRCONFIG);
}

std::string HostAddresses::complaint() const { return ::gai_strerror(error); }

std::vector<SocketAddress> with_alternating_families(const std::vector<SocketAddress>& addresses) {
  std::vector<SocketAddress> preferred;
  std::vector<SocketAddress> others;
  for (const SocketAddress& address : addresses) {
    const bool is_preferred = address.storage.ss_family == addresses.front().storage.ss_family;
    (is_preferred ? preferred : others).push_back(address);
  }
  std::vector<SocketAddress> alternating;
  for (std::size_t i = 0; i < std::max(preferred.size(), others.size()); ++i) {
    if (i < preferred.size()) alternating.push_back(preferred[i]);
    if (i < others.size()) alternating.push_back(others[i]);
  }
  return alternating;
}

}  // namespace holdfast::kit
