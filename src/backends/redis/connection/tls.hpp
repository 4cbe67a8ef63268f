#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backends/redis/connection/server_address.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

struct TlsLibrary;

/// TLS as a pure transformation between what is said and what goes over the wire: it knows no socket.
class TlsSession {
 public:
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

/// What all TLS connections to one server share: what was read from the files that its address names. It never changes,
/// so several threads may use it.
class TlsContext {
 public:
  using Pointer = std::shared_ptr<const TlsContext>;

  /// Loads OpenSSL, and reads the files, unless they have not changed since `known` was read: then `known` is the
  /// result. Fails if OpenSSL cannot be loaded or a file cannot be used. Blocks: call it through Loop::run_blocking.
  static spi::Result<Pointer> read(const ServerAddress& address, const Pointer& known);
  /// The same with a library that is loaded already. REQUIRES: it outlives the result.
  static spi::Result<Pointer> read(const TlsLibrary& library, const ServerAddress& address, const Pointer& known);
  virtual ~TlsContext() = default;

  /// The client's side of a new session, about to greet: outgoing() has its first words.
  virtual spi::Result<std::unique_ptr<TlsSession>> begin() const = 0;
};

}  // namespace holdfast::redis
