#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/redis/layouts/batch.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/layouts/queue_notices.hpp"
#include "backends/redis/topology/topology.hpp"
#include "spi/backend.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::redis {

/// Claims in the layout `queue`. Each step is one script (queue_scripts.hpp) on one line of claims (queue_line.hpp).
class QueueClaims final : public spi::Claims {
 public:
  /// `client`: the last part of this client's channel, 32 characters. REQUIRES: all outlive it.
  QueueClaims(const spi::BackendContext& context, Topology& topology, const Keys& keys, QueueNotices& notices,
              std::string client)
      : loop_(context.loop),
        events_(context.events),
        topology_(topology),
        keys_(keys),
        notices_(notices),
        client_(std::move(client)) {}

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

  /// Asks about all claims that are known, because messages about them may have been lost.
  void catch_up();

 private:
  /// An acquire that was sent.
  struct Asked {
    const LockName& name;
    spi::ClaimId id;
    spi::Mode mode;
    spi::milliseconds lease;
    std::optional<spi::ClaimId> replaces;
    base::Instant sent;

    Asked(const spi::ClaimRequest& request, base::Instant now)
        : name(request.name),
          id(request.id),
          mode(request.mode),
          lease(request.lease),
          replaces(request.replaces),
          sent(now) {}
  };
  using Renewals = Batch<spi::ClaimAnswer>;
  /// What was known of a claim before it was asked about.
  struct Known {
    LockName name;
    LockKind kind = LockKind::lock;
    spi::ClaimId id;
    bool waited = false;

    spi::ClaimRef ref() const { return {.name = name, .kind = kind, .id = id}; }
  };

  spi::Result<spi::ClaimAnswer> acquired(const Asked& asked, Reply& reply);
  void renew_within(base::Duration patience, std::span<const spi::ClaimRef> claims,
                    spi::Done<std::vector<spi::ClaimAnswer>> done);
  spi::Result<std::vector<spi::ClaimAnswer>> renewed(const std::vector<spi::ClaimRef>& asked, Reply& reply,
                                                     base::Instant sent);
  void refuse_downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done);
  void ask_about(const std::shared_ptr<const std::vector<Known>>& claims);
  void tell(const spi::ClaimRef& claim, bool waited, spi::ClaimAnswer answer);

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  Topology& topology_;
  const Keys& keys_;
  QueueNotices& notices_;
  const std::string client_;
};

}  // namespace holdfast::redis
