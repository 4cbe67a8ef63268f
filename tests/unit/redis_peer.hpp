#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace holdfast::test {

/// The server's end of a connection, in the test's own thread: it says and hears what the test tells it to. It accepts
/// one connection at a time; the newest replaces the one before.
class RedisPeer {
 public:
  RedisPeer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &length), 0);
    port_ = std::to_string(ntohs(address.sin_port));
  }

  const std::string& port() const { return port_; }

  /// Whether somebody has connected since the last call.
  bool accepts() {
    base::FileDescriptor next(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!next) return false;
    connection_ = std::move(next);
    heard_.clear();
    return true;
  }
  void says(std::string_view bytes) {
    EXPECT_EQ(::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// Whether it has heard that; what came before it is forgotten then, too.
  bool heard(std::string_view bytes) {
    receive();
    const std::size_t found = heard_.find(bytes);
    if (found == std::string::npos) return false;
    heard_.erase(0, found + bytes.size());
    return true;
  }
  /// Whether the other side has ended the connection.
  bool is_alone() { return receive() == 0; }
  void hangs_up() { connection_ = base::FileDescriptor(); }

 private:
  /// All that there is. 0 if the other side has ended the connection.
  ssize_t receive() {
    std::array<char, 4096> buffer = {};
    for (;;) {
      const ssize_t count = ::recv(connection_.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0) return count;
      heard_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  base::FileDescriptor listener_;
  base::FileDescriptor connection_;
  std::string port_;
  std::string heard_;
};

}  // namespace holdfast::test
