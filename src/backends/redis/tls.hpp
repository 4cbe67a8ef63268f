#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backends/redis/address.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// TLS as a pure transformation between what is said and what goes over the wire: it knows no socket.
class TlsSession {
 public:
  /// The client's side, about to greet: outgoing() has its first words. Fails if OpenSSL cannot be loaded, or a file of
  /// the address not be used.
  static spi::Result<std::unique_ptr<TlsSession>> begin(const Address& address);
  virtual ~TlsSession() = default;

  /// Bytes came from the wire: appends to `plain` what they say. What has to be answered is in outgoing().
  virtual spi::Result<> received(std::string_view wire, std::string& plain) = 0;
  /// REQUIRES: established().
  virtual spi::Result<> send(std::string_view plain) = 0;
  /// Both sides have agreed, and the server is who it should be.
  virtual bool established() const = 0;
  /// What has to be sent. Whoever sends it takes it out.
  virtual std::string& outgoing() = 0;
};

}  // namespace holdfast::redis
