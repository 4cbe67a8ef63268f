// Looking for claims that we know nothing of: their nodes may have been made without our hearing of it.

#include <optional>
#include <utility>

#include "backends/zookeeper/claims.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::Operation;

/// Looks for a claim that we know nothing of: its node may have been made without our hearing of it, or is somebody
/// else's.
Operation<std::optional<NodeClaims::FoundClaim>> NodeClaims::finding(SessionPtr session, ClaimKey key) {
  const std::string guid = guid_of(key.id);
  for (const bool permits : {false, true}) {
    const std::string path = nodes_.line_of(key.name.text(), permits);
    const SeenLine seen = co_await see(session, path, permits, Freshness::newest);
    if (!seen.ok()) co_return explain(seen.reply, false);
    const Entry* const entry = seen.line.find(guid);
    if (entry == nullptr) continue;
    const base::Future<Reply> asking = session->get(path + "/" + entry->node);
    const Reply& own = co_await asking;
    if (own.outcome == Outcome::no_node) continue;
    if (!own.ok()) co_return explain(own, false);
    const std::size_t place = seen.line.place_of(*entry);
    FoundClaim found;
    const SessionPtr owner = sessions_.with_id(own.stat.owner);
    found.is_ours = owner != nullptr;
    found.claim = {.session = owner ? owner : session,
                   .line = path,
                   .node = entry->node,
                   .number = own.stat.created,
                   .mode = entry->mode,
                   .waiting = !seen.line.is_granted(place)};
    found.place = static_cast<std::uint32_t>(place);
    found.own = own;
    if (found.is_ours && known_.find(key) == nullptr) known_.note(key, found.claim);
    co_return std::optional(std::move(found));
  }
  co_return std::optional<FoundClaim>();
}

/// What can be said of a claim that was found.
ClaimAnswer NodeClaims::answer_for(FoundClaim& found) const {
  ClaimAnswer answer = answer_for(found.claim);
  if (found.claim.waiting) answer.place = found.place;
  if (!found.is_ours) answer.armed_at = base::Instant::min();
  note_data(found.claim, found.own, answer);
  return answer;
}

/// It was asked for before: whatever became of that is found under its id. Empty if there is nothing.
Operation<std::optional<ClaimAnswer>> NodeClaims::finding_again(CallPtr call, SessionPtr session, const Wish& wish) {
  const std::optional<ClaimAnswer> nothing;
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.permits());
  SeenLine seen = co_await see(session, path, wish.permits(), Freshness::newest);
  if (!seen.ok()) co_return explain(seen.reply, false);
  const Entry* const entry = seen.line.find(guid_of(wish.key.id));
  if (entry == nullptr) {
    known_.forget(wish.key);
    co_return nothing;
  }
  const std::string own = path + "/" + entry->node;
  const base::Future<Reply> asking = session->get(own);
  const Reply& asked = co_await asking;
  if (asked.outcome == Outcome::no_node) {
    known_.forget(wish.key);
    co_return nothing;
  }
  if (!asked.ok()) co_return explain(asked, false);
  const SessionPtr owner = sessions_.with_id(asked.stat.owner);
  if (!owner) {  // of a session that has ended for us: never to be believed in, and in the way
    const Reply removed = co_await session->remove(own);
    known_.forget(wish.key);
    if (removed.ok() || removed.outcome == Outcome::no_node) co_return nothing;
    co_return explain(removed, false);
  }
  known_.note(wish.key, {.session = owner,
                         .line = path,
                         .node = entry->node,
                         .number = asked.stat.created,
                         .mode = entry->mode,
                         .waiting = true});
  if (wish.replaces_another()) {
    // What it replaces goes whether or not it is there itself already; where it stands depends on that.
    call->is_in_doubt();
    const ClaimKey old = {*wish.replaces, wish.key.name, wish.key.kind};
    auto left = co_await leaving(session, old);
    if (!left.ok()) co_return std::move(left.failure());
    seen = co_await see(session, path, wish.permits(), Freshness::newest);
  }
  const Reply beaten = co_await sessions_.beat(owner);  // repeating it re-arms the lease
  if (!beaten.ok()) co_return explain(beaten, false);
  auto answer = co_await standing(wish.key, std::move(seen));
  if (!answer.ok()) co_return std::move(answer.failure());
  if (KnownClaim* const claim = known_.find(wish.key)) note_data(*claim, asked, answer.value());
  co_return std::optional(std::move(answer.value()));
}

}  // namespace holdfast::zookeeper
