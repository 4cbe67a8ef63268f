#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <list>
#include <stdexcept>
#include <string>

#include "base/file_descriptor.hpp"

namespace holdfast::test {

/// A port of this host that answers no attempt to connect, as a host that is gone behind a firewall: its queue of
/// connections is full, and nobody accepts any.
class BlackHole {
 public:
  explicit BlackHole(const std::string& address = "127.0.0.1") : listener_(new_socket(SOCK_CLOEXEC)) {
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    ::inet_pton(AF_INET, address.c_str(), &place.sin_addr);
    socklen_t size = sizeof place;
    auto* const generic = reinterpret_cast<sockaddr*>(&place);
    if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 0) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0) {
      throw std::runtime_error("no port to listen at");
    }
    constexpr int most = 16;
    for (int i = 0; i < most; ++i) {
      guests_.push_back(new_socket(SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (::connect(guests_.back().get(), generic, size) != 0 && errno != EINPROGRESS) break;
      constexpr int long_for_this_host = 300;  // milliseconds
      pollfd connected = {guests_.back().get(), POLLOUT, 0};
      if (::poll(&connected, 1, long_for_this_host) == 0) {
        port_ = std::to_string(ntohs(place.sin_port));
        address_ = address + ":" + port_;
        return;
      }
    }
    throw std::runtime_error("this system accepts connections that nobody accepts");
  }

  const std::string& address() const { return address_; }
  const std::string& port() const { return port_; }

 private:
  static base::FileDescriptor new_socket(int flags) {
    return base::FileDescriptor(::socket(AF_INET, SOCK_STREAM | flags, 0));
  }

  base::FileDescriptor listener_;
  std::list<base::FileDescriptor> guests_;
  std::string port_;
  std::string address_;
};

}  // namespace holdfast::test
