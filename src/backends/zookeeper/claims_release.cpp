// Leaving a line.

#include <optional>
#include <utility>

#include "backends/zookeeper/claims.hpp"

namespace holdfast::zookeeper {

using spi::ClaimRef;
using spi::Done;
using spi::Operation;

void NodeClaims::release(const ClaimRef& claim, Done<bool> done) {
  calls_.start(spi::patience(claim.lease), std::move(done),
               [&](CallPtr call) { return releasing(std::move(call), {claim.name, claim.kind, claim.id}); });
}

Operation<bool> NodeClaims::releasing(CallPtr call, ClaimKey key) {
  // Nobody may be waiting for it, and so nobody reads; but if it takes several steps, somebody must.
  std::optional<spi::Expectation> reading;
  const KnownClaim* const before = known_.find(key);
  if (before == nullptr || !before->session->is_up() || !order_by_name_.is_free(key.name.text()) ||
      !order_by_claim_.is_free(queue_name_of(key))) {
    reading.emplace(loop_, spi::Expectation::Of::upkeep);
  }
  kit::RequestOrder::Place place = order_by_name_.enter(key.name.text());
  co_await place;
  kit::RequestOrder::Place own = order_by_claim_.enter(queue_name_of(key));
  co_await own;
  if (call->over()) co_return nobody_waits();
  const KnownClaim* const claim = known_.find(key);
  const bool alive = claim != nullptr && !claim->session->has_ended();
  const SessionPtr session = alive ? claim->session : sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  call->is_in_doubt();
  const bool one_step = known_.find(key) != nullptr;
  const auto sent = base::started(removing(session, key));
  // What comes later on the same connection is executed later.
  if (one_step && sessions_.is_only_one()) {
    own.leave();
    place.leave();
  }
  const auto& left = co_await sent;
  co_return left;
}

/// Removes the nodes of a claim, wherever it stands.
Operation<bool> NodeClaims::removing(SessionPtr session, ClaimKey key) {
  std::optional<KnownClaim> claim;
  if (const KnownClaim* const known = known_.find(key)) {
    claim = *known;
  } else {
    auto found = co_await finding(session, key);
    if (!found.ok()) co_return std::move(found.failure());
    if (!found.value()) {
      known_.forget(key);
      co_return false;
    }
    claim = std::move(found.value()->claim);
  }
  known_.forget(key);
  known_.leaves(key, *session);
  const base::Future<Reply> removing = session->remove(claim->path());
  std::optional<base::Future<Reply>> unmarking;
  if (claim->was_downgraded()) {
    unmarking = session->remove(claim->line + "/" + mark_of_shared(key.id, claim->sequence()));
  }
  const Reply& removed = co_await removing;
  known_.has_left(key);
  if (unmarking) co_await *unmarking;
  if (removed.ok()) co_return true;
  if (removed.outcome == Outcome::no_node || removed.outcome == Outcome::session_ended) co_return false;
  known_.doubt(key);  // it may be there when it is asked for again
  co_return explain(removed, true);
}

}  // namespace holdfast::zookeeper
