#pragma once

#include <string>
#include <unordered_map>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "kit/register_watches.hpp"
#include "spi/loop.hpp"
#include "spi/operation.hpp"
#include "spi/registers.hpp"

namespace holdfast::zookeeper {

/// Registers as persistent nodes. A register's version is that of its node plus one, because a new node has version 0.
/// It never goes back, because registers are never deleted.
class NodeRegisters final : public spi::Registers {
 public:
  /// The servers take messages of 1 MiB at most (jute.maxbuffer), and the path is part of them.
  static constexpr std::size_t max_value_bytes = 1'000'000;

  /// REQUIRES: all outlive it.
  NodeRegisters(spi::Loop& loop, Sessions& sessions, Calls& calls)
      : loop_(loop), sessions_(sessions), calls_(calls), watches_(loop, [](const LockName&) {}) {}

  void read(const LockName& name, spi::Done<spi::Versioned> done) override;
  void write_if(const LockName& name, std::uint64_t expected, std::string value, spi::Done<WriteAnswer> done) override;
  void add(const LockName& name, std::int64_t amount, spi::Done<std::int64_t> done) override;
  void watch(const LockName& name, std::uint64_t seen, spi::Done<> done) override;

  void node_changed(const std::string& path);
  /// Answers all watches.
  void close();

 private:
  spi::Operation<spi::Versioned> reading(CallPtr call, std::string path);
  spi::Operation<WriteAnswer> writing(CallPtr call, std::string path, std::uint64_t expected, std::string value);
  spi::Operation<std::int64_t> adding(CallPtr call, std::string path, std::int64_t amount);
  spi::Operation<spi::Nothing> watching(LockName name, std::uint64_t seen);

  spi::Operation<spi::Versioned> fetching(SessionPtr session, const std::string& path);
  spi::Operation<WriteAnswer> putting(SessionPtr session, const std::string& path, std::uint64_t expected,
                                      std::string value);

  spi::Loop& loop_;
  Sessions& sessions_;
  Calls& calls_;
  kit::RegisterWatches watches_;
  std::unordered_map<std::string, LockName> watched_;  ///< by path
  bool closed_ = false;
};

}  // namespace holdfast::zookeeper
