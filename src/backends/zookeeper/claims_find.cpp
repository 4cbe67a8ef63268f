// Looking for claims that we know nothing of: their nodes may have been made without our hearing of it.

#include <optional>
#include <utility>

#include "backends/zookeeper/claims.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::Result;

/// Looks for a claim that we know nothing of: its node may have been made without our hearing of it, or is somebody
/// else's.
Flow<Result<std::optional<NodeClaims::FoundClaim>>> NodeClaims::find(SessionPtr session, ClaimKey key) {
  const std::string guid = guid_of(key.id);
  for (const bool permits : {false, true}) {
    const std::string path = nodes_.line_of(key.name.text(), permits);
    const Flow<SeenLine> seeing = see(session, path, permits, Freshness::newest);
    const SeenLine seen = co_await seeing;
    if (!seen.ok()) co_return explain(seen.reply, false);
    const Entry* const entry = seen.line.find(guid);
    if (entry == nullptr) continue;
    const Sent asking = session->get(path + "/" + entry->node);
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
Flow<std::optional<NodeClaims::Standing>> NodeClaims::find_again(AcquireCall call, SessionPtr session, Wish wish) {
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.permits());
  const Flow<SeenLine> seeing = see(session, path, wish.permits(), Freshness::newest);
  SeenLine seen = co_await seeing;
  if (!seen.ok()) co_return Standing(explain(seen.reply, false));
  const Entry* const entry = seen.line.find(guid_of(wish.key.id));
  if (entry == nullptr) {
    known_.forget(wish.key);
    co_return std::nullopt;
  }
  const std::string own = path + "/" + entry->node;
  const Sent asked = session->get(own, Session::Watching::no);
  const Reply& stat = co_await asked;
  if (stat.outcome == Outcome::no_node) {
    known_.forget(wish.key);
    co_return std::nullopt;
  }
  if (!stat.ok()) co_return Standing(explain(stat, false));
  const SessionPtr owner = sessions_.with_id(stat.stat.owner);
  if (!owner) {  // of a session that has ended for us: never to be believed in, and in the way
    const Sent removing = session->remove(own);
    const Reply& removed = co_await removing;
    known_.forget(wish.key);
    if (removed.ok() || removed.outcome == Outcome::no_node) co_return std::nullopt;
    co_return Standing(explain(removed, false));
  }
  known_.note(wish.key, {.session = owner,
                         .line = path,
                         .node = entry->node,
                         .number = stat.stat.created,
                         .mode = entry->mode,
                         .waiting = true});
  if (wish.replaces && *wish.replaces != wish.key.id) {
    // What it replaces goes whether or not it is there itself already; where it stands depends on that.
    call->is_in_doubt();
    const Flow<Result<bool>> leaving = leave(session, {*wish.replaces, wish.key.name, wish.key.kind});
    Result<bool> left = co_await leaving;
    if (!left.ok()) co_return Standing(left.failure());
    const Flow<SeenLine> seeing_again = see(session, path, wish.permits(), Freshness::newest);
    seen = co_await seeing_again;
  }
  const Flow<Reply> beating = sessions_.beat(owner);  // repeating it re-arms the lease
  const Reply beaten = co_await beating;
  if (!beaten.ok()) co_return Standing(explain(beaten, false));
  const Flow<Standing> finding = stand(wish.key, std::move(seen));
  Standing standing = co_await finding;
  KnownClaim* const claim = known_.find(wish.key);
  if (claim != nullptr && standing.ok()) note_data(*claim, stat, standing.value());
  co_return standing;
}

}  // namespace holdfast::zookeeper
