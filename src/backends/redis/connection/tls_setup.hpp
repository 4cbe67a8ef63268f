#pragma once

#include <vector>

#include "backends/redis/connection/server_address.hpp"
#include "backends/redis/connection/tls.hpp"
#include "base/lifetime.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// Prepares TLS for all connections of one client: loads OpenSSL and reads the certificates on a thread that may block,
/// once for all of them. A file that has changed is read again before the next connection; after a failure, all of them
/// are.
class TlsSetup {
 public:
  using Done = base::Callback<void(spi::Result<TlsContext::Pointer>)>;

  /// One connection that waits for it. Destroying it gives up.
  class Preparation {
   public:
    /// `done` runs once, never inside the constructor; it may destroy the preparation. REQUIRES: the setup outlives it.
    Preparation(TlsSetup& setup, Done done);
    ~Preparation();
    Preparation(const Preparation&) = delete;
    Preparation& operator=(const Preparation&) = delete;

   private:
    friend class TlsSetup;

    TlsSetup& setup_;
    Done done_;
  };

  /// Reads nothing yet. REQUIRES: both outlive it.
  TlsSetup(spi::Loop& loop, const ServerAddress& address);
  TlsSetup(const TlsSetup&) = delete;
  TlsSetup& operator=(const TlsSetup&) = delete;

 private:
  void begin_reading();
  void has_read(const spi::Result<TlsContext::Pointer>& context);

  spi::Loop& loop_;
  const ServerAddress& address_;
  TlsContext::Pointer known_;            ///< null until the files could be read
  bool reading_ = false;                 ///< one thread at a time, however long a file takes
  std::vector<Preparation*> waiting_;    ///< for the reading that is under way
  std::vector<Preparation*> answering_;  ///< not told yet what was read
  base::Lifetime lifetime_;
};

}  // namespace holdfast::redis
