#pragma once

#include <set>
#include <string>
#include <utility>

#include "backends/redis/connection/inbox.hpp"
#include "backends/redis/connection/pipeline.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "kit/register_watches.hpp"
#include "spi/loop.hpp"
#include "spi/registers.hpp"

namespace holdfast::redis {

/// Registers: each is a hash with a version `v` and a value `d`, and a channel of the same name on which whoever
/// changes it says so.
class HashRegisters final : public spi::Registers, public Inbox::Listener {
 public:
  static constexpr std::size_t max_value_bytes = std::size_t{1} << 20U;

  /// REQUIRES: all outlive it.
  HashRegisters(spi::Loop& loop, Pipeline& pipeline, const Keys& keys)
      : loop_(loop), pipeline_(pipeline), keys_(keys), watches_(loop, [](const LockName&) {}) {}
  /// Before the first watch.
  void attach(Inbox& inbox) { inbox_ = &inbox; }
  /// Answers all watches.
  void close();

  void read(const LockName& name, spi::Done<spi::Versioned> done) override;
  void write_if(const LockName& name, std::uint64_t expected, std::string value, spi::Done<WriteAnswer> done) override;
  void add(const LockName& name, std::int64_t amount, spi::Done<std::int64_t> done) override;
  void watch(const LockName& name, std::uint64_t seen, spi::Done<> done) override;

 private:
  void listening(const std::string& channel) override;
  void changed(const std::string& channel) override;
  void compare(const LockName& name, std::uint64_t seen);

  spi::Loop& loop_;
  Pipeline& pipeline_;
  const Keys& keys_;
  Inbox* inbox_ = nullptr;
  kit::RegisterWatches watches_;
  std::set<std::pair<std::string, std::uint64_t>> unsure_;  ///< names and versions: watched before we could listen
  bool closed_ = false;
};

}  // namespace holdfast::redis
