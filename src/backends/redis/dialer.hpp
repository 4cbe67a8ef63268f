#pragma once

#include <sys/socket.h>

#include <memory>
#include <vector>

#include "backends/redis/address.hpp"
#include "base/file_descriptor.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// Finds a server and connects a socket to it, one address after the other. Destroying it gives up.
class Dialer {
 public:
  using Done = base::Callback<void(spi::Result<base::FileDescriptor>)>;

  /// `done` runs once, never inside the constructor; it may destroy the dialer. REQUIRES: all outlive it.
  Dialer(spi::Loop& loop, const Address& address, Done done);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

 private:
  struct Candidate {
    sockaddr_storage address = {};
    socklen_t length = 0;
  };
  struct Resolution;

  void resolve();
  void resolved(const Resolution& resolution);
  void use_unix_socket();
  void try_next();
  void connected_or_not();
  void finish(spi::Result<base::FileDescriptor> result);

  spi::Loop& loop_;
  const Address& address_;
  Done done_;
  std::vector<Candidate> candidates_;
  std::size_t next_ = 0;
  base::FileDescriptor socket_;
  int last_error_ = 0;
  const std::shared_ptr<Dialer*> self_;  ///< null once this object has gone
};

}  // namespace holdfast::redis
