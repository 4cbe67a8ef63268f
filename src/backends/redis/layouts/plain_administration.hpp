#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/topology/topology.hpp"
#include "spi/administration.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// Shows one lock of the layout `plain`, and breaks it, whoever holds it. It lists nothing, because nobody can tell
/// which keys of a database are locks; and it asks no holder to release, because holders of other libraries would not
/// hear it.
class PlainAdministration final : public spi::Administration {
 public:
  /// REQUIRES: all outlive it.
  PlainAdministration(spi::Loop& loop, Topology& topology, const Keys& keys)
      : loop_(loop), topology_(topology), keys_(keys) {}

  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

 private:
  spi::Loop& loop_;
  Topology& topology_;
  const Keys& keys_;
};

}  // namespace holdfast::redis
