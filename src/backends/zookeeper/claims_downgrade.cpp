// Making an exclusive claim shared: by a mark beside its node, so that it keeps its place.

#include <utility>
#include <vector>

#include "backends/zookeeper/claims.hpp"
#include "backends/zookeeper/ready.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::Done;
using spi::Result;
using Part = Session::Part;

void NodeClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  run_downgrade(make_call(calls_, spi::patience(claim.lease), std::move(done)), {claim.id, claim.name, claim.kind});
}

Detached NodeClaims::run_downgrade(AcquireCall call, ClaimKey key) {
  const kit::RequestOrder::Place place = names_.enter(key.name.text());
  co_await place;
  const kit::RequestOrder::Place own = claims_.enter(key.queue_name());
  co_await own;
  if (call->over()) co_return;
  const KnownClaim* const known = known_.find(key);
  const SessionPtr session = known != nullptr && !known->session->has_ended() ? known->session : sessions_.any();
  const Flow<bool> preparing = is_ready(session, call);
  const bool ready = co_await preparing;
  if (!ready) co_return;
  const Flow<Result<std::optional<FoundClaim>>> finding = find(session, key);
  Result<std::optional<FoundClaim>> looked = co_await finding;
  if (call->over()) co_return;
  if (!looked.ok() || !looked.value()) {
    if (looked.ok()) known_.forget(key);
    call->answer(looked.ok() ? Result<ClaimAnswer>(ClaimAnswer{}) : Result<ClaimAnswer>(looked.failure()));
    co_return;
  }
  FoundClaim& found = *looked.value();
  if (found.claim.mode.kind == ClaimMode::permits) {
    call->answer(kit::cannot_downgrade_permits(key.name));
    co_return;
  }
  if (!found.claim.waiting && found.claim.mode.kind == ClaimMode::exclusive) {
    call->is_in_doubt();
    // Whoever waits watches the data of the node, so they change, too.
    const std::string mark = found.claim.line + "/" + mark_of_shared(key.id, found.claim.sequence());
    std::vector<Part> parts(2);
    parts[0] = {.kind = Part::Kind::create, .path = mark};
    parts[1] = {.kind = Part::Kind::set, .path = found.claim.path(), .data = found.own.text};
    const Sent marking = session->together(parts);
    const Reply& marked = co_await marking;
    if (marked.outcome == Outcome::no_node) {
      known_.forget(key);
      call->answer(ClaimAnswer{});
      co_return;
    }
    if (!marked.ok() && marked.outcome != Outcome::node_exists) {
      call->answer(explain(marked, true));
      co_return;
    }
    found.claim.mode.kind = ClaimMode::shared;
    if (KnownClaim* const claim = known_.find(key)) claim->mode.kind = ClaimMode::shared;
  }
  call->answer(answer_for(found));
}

}  // namespace holdfast::zookeeper
