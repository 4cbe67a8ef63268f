#pragma once

#include "backends/redis/layouts/batch.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/topology/topology.hpp"
#include "base/random.hpp"
#include "spi/backend.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// Claims in the layout `plain` (plain_lock.hpp says what they are). There are exclusive ones only, and those that wait
/// poll.
class PlainClaims final : public spi::Claims {
 public:
  /// Each interval is chosen at random between these, so that clients do not fall into step.
  static constexpr spi::milliseconds least_poll_interval{25};
  static constexpr spi::milliseconds most_poll_interval{75};

  /// REQUIRES: all outlive it.
  PlainClaims(const spi::BackendContext& context, Topology& topology, const Keys& keys);

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

 private:
  using Renewals = Batch<spi::ClaimAnswer>;

  spi::Result<std::vector<spi::ClaimAnswer>> renewed(const Reply& reply, std::size_t count, base::Instant sent);
  std::optional<spi::ClaimAnswer> answer_from(const Reply& reply, base::Instant sent);
  spi::milliseconds when_to_ask_again(long long lock_expires_in);

  spi::Loop& loop_;
  Topology& topology_;
  const Keys& keys_;
  base::Random chance_;
};

}  // namespace holdfast::redis
