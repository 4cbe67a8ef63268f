// Making an exclusive claim shared: by a mark beside its node, so that it keeps its place.

#include <utility>
#include <vector>

#include "backends/zookeeper/claims.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::Done;
using spi::Operation;
using Part = Session::Part;

void NodeClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  calls_.start(spi::patience(claim.lease), std::move(done),
               [&](CallPtr call) { return downgrading(std::move(call), {claim.name, claim.kind, claim.id}); });
}

Operation<ClaimAnswer> NodeClaims::downgrading(CallPtr call, ClaimKey key) {
  const kit::RequestOrder::Place place = order_by_name_.enter(key.name.text());
  co_await place;
  const kit::RequestOrder::Place own = order_by_claim_.enter(queue_name_of(key));
  co_await own;
  if (call->over()) co_return nobody_waits();
  const KnownClaim* const known = known_.find(key);
  const SessionPtr session = known != nullptr && !known->session->has_ended() ? known->session : sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  auto looked = co_await finding(session, key);
  if (call->over()) co_return nobody_waits();
  if (!looked.ok()) co_return std::move(looked.failure());
  if (!looked.value()) {
    known_.forget(key);
    co_return ClaimAnswer{};
  }
  FoundClaim& found = *looked.value();
  if (key.permits()) co_return kit::cannot_downgrade_permits(key.name);
  if (!found.claim.waiting && found.claim.mode.kind == ClaimMode::exclusive) {
    call->is_in_doubt();
    // Whoever waits watches the data of the node, so they change, too.
    const std::string mark = found.claim.line + "/" + mark_of_shared(key.id, found.claim.sequence());
    std::vector<Part> parts(2);
    parts[0] = {.kind = Part::Kind::create, .path = mark};
    parts[1] = {.kind = Part::Kind::set, .path = found.claim.path(), .data = found.own.text};
    const Reply marked = co_await session->together(parts);
    if (marked.outcome == Outcome::no_node) {
      known_.forget(key);
      co_return ClaimAnswer{};
    }
    if (!marked.ok() && marked.outcome != Outcome::node_exists) co_return explain(marked, true);
    found.claim.mode.kind = ClaimMode::shared;
    if (KnownClaim* const claim = known_.find(key)) claim->mode.kind = ClaimMode::shared;
  }
  co_return answer_for(found);
}

}  // namespace holdfast::zookeeper
