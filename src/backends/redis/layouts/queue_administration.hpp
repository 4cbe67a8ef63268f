#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/redis/layouts/batch.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/topology/topology.hpp"
#include "spi/administration.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// Shows the lines of the layout `queue`, evicts holders, asks them to release and resizes semaphores.
class QueueAdministration final : public spi::Administration {
 public:
  /// REQUIRES: all outlive it.
  QueueAdministration(spi::Loop& loop, Topology& topology, const Keys& keys)
      : loop_(loop), topology_(topology), keys_(keys) {}

  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  /// Goes through all keys of the database, and fails if that takes too long.
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

 private:
  using Looks = Batch<std::optional<LockStatus>>;
  struct Listing;

  void ask_about(const std::vector<Keys::Parsed>& lines, base::Duration patience, Looks::Done done);
  void scan(const std::shared_ptr<Listing>& listing, const std::string& key, const std::string& cursor);
  void scanned(const std::shared_ptr<Listing>& listing, const std::string& key, spi::Result<Reply*>& result);
  void show(const std::shared_ptr<Listing>& listing);
  void show(const std::shared_ptr<Listing>& listing, const std::vector<Keys::Parsed>& lines);
  static void finish(Listing& listing);
  void change(const LockName& name, LockKind kind, const Script& script, const std::vector<std::string>& arguments,
              spi::Done<std::size_t> done);

  spi::Loop& loop_;
  Topology& topology_;
  const Keys& keys_;
};

}  // namespace holdfast::redis
