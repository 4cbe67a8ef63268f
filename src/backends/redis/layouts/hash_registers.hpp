#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/topology/topology.hpp"
#include "kit/register_watches.hpp"
#include "spi/loop.hpp"
#include "spi/registers.hpp"

namespace holdfast::redis {

/// Registers. Each is a hash with a version `v` and a value `d`; whoever changes it publishes that on a channel with
/// the name of its key.
class HashRegisters final : public spi::Registers, private Channels::Listener {
 public:
  static constexpr std::size_t max_value_bytes = std::size_t{1} << 20U;
  /// How long the channel of a register is listened to after the last watch of it began.
  static constexpr base::Duration listening_time = std::chrono::seconds(5);

  /// REQUIRES: all outlive it.
  HashRegisters(spi::Loop& loop, Topology& topology, const Keys& keys)
      : loop_(loop),
        topology_(topology),
        channels_(topology.channels()),
        keys_(keys),
        watches_(loop, [](const LockName&) {}),
        timer_(loop, [this] { stop_listening(); }) {}
  /// Answers all watches with Errc::closed.
  void close();

  void read(const LockName& name, spi::Done<spi::Versioned> done) override;
  void write_if(const LockName& name, std::uint64_t expected, std::string value, spi::Done<WriteAnswer> done) override;
  void add(const LockName& name, std::int64_t amount, spi::Done<std::int64_t> done) override;
  void watch(const LockName& name, std::uint64_t seen, spi::Done<> done) override;

 private:
  void listening(const std::string& channel) override;
  void heard(const std::string& channel, std::string_view message) override;
  void listen(const std::string& channel);
  void stop_listening();
  void compare(const LockName& name, std::uint64_t seen);

  spi::Loop& loop_;
  Topology& topology_;
  Channels& channels_;
  const Keys& keys_;
  kit::RegisterWatches watches_;
  std::map<std::string, base::Instant, std::less<>> listening_until_;  ///< by channel
  std::set<std::pair<std::string, std::uint64_t>> unsure_;  ///< names and versions: watched before we listened
  spi::Timer timer_;                                        ///< when to stop listening
  bool closed_ = false;
};

}  // namespace holdfast::redis
