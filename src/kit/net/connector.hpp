#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/instant.hpp"
#include "base/lifetime.hpp"
#include "kit/net/host_addresses.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::kit {

/// Connects a socket to whichever of a host's addresses answers first (RFC 8305, "Happy Eyeballs").
///
/// The addresses are tried in their order. When one refuses, the next one begins at once; when one has not answered
/// after a moment, the next one begins beside it. So an address that swallows every packet costs a moment, and not the
/// whole attempt. The first that connects wins, and the other sockets are closed.
///
/// Destroying it gives up.
class Connector {
 public:
  using Done = base::Callback<void(spi::Result<base::FileDescriptor>)>;

  /// How long an address is waited for before the next one begins: this, or less if all of them would otherwise not
  /// have begun by the middle of the time that there is.
  static constexpr base::Duration longest_stagger = std::chrono::milliseconds(250);
  /// Of a host that has more addresses, the rest is not tried.
  static constexpr std::size_t max_addresses = 64;

  /// Fails with Errc::unreachable, at the latest at `deadline`, or with Errc::exhausted if the system has no descriptor
  /// left. `target` says in messages what is connected to. `done` runs once, never inside the constructor; it may
  /// destroy the connector. REQUIRES: the loop outlives it.
  Connector(spi::Loop& loop, std::vector<SocketAddress> addresses, std::string target, base::Instant deadline,
            Done done);
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

 private:
  void time_out();
  void begin_next();
  bool begin(const SocketAddress& address);
  void answered(int descriptor);
  void failed(int system_error);
  void finish(spi::Result<base::FileDescriptor> result);
  void give_up();

  spi::Loop& loop_;
  const std::vector<SocketAddress> addresses_;
  const std::string target_;
  const base::Instant deadline_;
  const base::Duration stagger_;
  Done done_;
  std::size_t next_ = 0;                         ///< the address that has not begun yet
  std::vector<base::FileDescriptor> under_way_;  ///< not answered yet
  spi::Failure last_failure_;
  spi::Timer timer_;  ///< when the next address begins, or the deadline
  base::Lifetime lifetime_;
};

}  // namespace holdfast::kit
