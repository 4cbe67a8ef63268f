#pragma once

#include <map>
#include <set>
#include <string>

#include "backends/etcd/keys.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/watches.hpp"
#include "kit/register_watches.hpp"
#include "kit/request_order.hpp"
#include "spi/operation.hpp"
#include "spi/registers.hpp"

namespace holdfast::etcd {

/// Keeps each register in a key of its own, without a lease. A register's version is the one that etcd counts for its
/// key.
class EtcdRegisters final : public spi::Registers {
 public:
  /// A server accepts requests of up to 1.5 MiB unless it is configured otherwise.
  static constexpr std::size_t max_value_bytes = std::size_t{1} << 20U;

  /// REQUIRES: all references outlive it.
  EtcdRegisters(spi::Loop& loop, ServerCalls& calls, const Keys& keys, Watches& watches);

  void read(const LockName& name, spi::Done<spi::Versioned> done) override;
  void write_if(const LockName& name, std::uint64_t expected, std::string value, spi::Done<WriteAnswer> done) override;
  void add(const LockName& name, std::int64_t amount, spi::Done<std::int64_t> done) override;
  void watch(const LockName& name, std::uint64_t seen, spi::Done<> done) override;

  void close();

 private:
  spi::Operation<spi::Versioned> reading(LockName name);
  spi::Operation<WriteAnswer> writing(LockName name, std::uint64_t expected, std::string value);
  spi::Operation<WriteAnswer> writing_now(const LockName& name, std::uint64_t expected, std::string value,
                                          base::Instant deadline);
  spi::Operation<std::int64_t> adding(LockName name, std::int64_t amount);
  void happened(const LockName& name, Watches::What what);
  void compare(const LockName& name, std::uint64_t seen);
  void stop_watching(const LockName& name);

  spi::Loop& loop_;
  ServerCalls& calls_;
  const Keys& keys_;
  Watches& watches_of_keys_;
  kit::RequestOrder order_;

  struct Watched {
    std::uint64_t watch = 0;
    bool begun = false;
    bool told = false;                    ///< a change was told, and nobody has asked for the next one
    std::set<std::uint64_t> unsure = {};  ///< versions that were seen before the watch began
  };
  std::map<LockName, Watched> watched_;
  kit::RegisterWatches watches_;
  bool closed_ = false;
};

}  // namespace holdfast::etcd
