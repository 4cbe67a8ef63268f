// Finding out where a claim stands in its line, and watching what it waits for.

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "backends/zookeeper/claims.hpp"
#include "backends/zookeeper/record.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::Failure;
using spi::milliseconds;
using spi::Operation;
using namespace std::chrono_literals;

namespace {

/// The number of a grant must be below this.
constexpr std::uint64_t number_end = std::uint64_t{1} << 56U;

constexpr int attempts = 8;

}  // namespace

ClaimAnswer NodeClaims::answer_for(const KnownClaim& claim) {
  ClaimAnswer answer;
  answer.standing = claim.waiting ? ClaimAnswer::Standing::waiting : ClaimAnswer::Standing::granted;
  answer.number = claim.number;
  answer.lease = claim.session->timeout();
  answer.armed_at = claim.session->proved_since();
  return answer;
}

/// Adds to the answer that somebody wants the claim to be released, if its node says so.
void NodeClaims::note_release_request(KnownClaim& claim, const Reply& own, ClaimAnswer& answer) const {
  if (answer.standing != ClaimAnswer::Standing::granted) return;
  auto asked = Record::from(own.text).asked;
  if (!asked) return;
  // There is no clock that we share with whoever asked, so the time counts from when we first hear of it.
  if (std::exchange(claim.asked_in, own.stat.data_changed) != own.stat.data_changed) {
    claim.asked_until = base::end_of(asked->within, loop_.now());
  }
  const auto left = std::chrono::floor<milliseconds>(claim.asked_until - loop_.now());
  answer.asked_to_release = ReleaseRequest{std::move(asked->reason), std::max(left, 0ms)};
}

/// Whether the node at `path`, in the line of `key`, belongs to a session of ours but to no claim.
bool NodeClaims::is_stray(const ClaimKey& key, const std::string& path, const Reply& read) const {
  if (!read.ok() || read.stat.owner == 0 || sessions_.with_id(read.stat.owner) == nullptr) return false;
  const auto entry = Entry::from(path.substr(path.rfind('/') + 1));
  const auto id = entry ? id_of(entry->guid()) : std::nullopt;
  return id && !known_.may_want({key.name, key.kind, *id}, path);
}

/// Finds out whether a claim is granted. If it is not, sets a watch on what it waits for.
Operation<ClaimAnswer> NodeClaims::refreshing(ClaimKey key, LineSnapshot snapshot) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    KnownClaim* claim = known_.find(key);
    if (claim == nullptr) co_return ClaimAnswer{};
    const SessionPtr session = claim->session;
    if (!snapshot.ok()) co_return explain(snapshot.reply, true);
    if (claim->number >= number_end) {
      co_return Failure{Errc::store_failed, sessions_.address().shown() +
                                                " has had so many leaders that its tokens no longer fit into 64 bits"};
    }
    const Entry* const entry = snapshot.line.find(guid_of(key.id));
    if (entry == nullptr || entry->node != claim->node) {
      // Nobody will know of its node from now on. If the answer was wrong, it would be in everybody's way for as long as
      // the session lasts.
      if (claim->waiting) static_cast<void>(session->remove(claim->path()));
      known_.forget(key);
      co_return ClaimAnswer{};
    }
    const std::size_t place = snapshot.line.place_of(*entry);
    const kit::LinePosition position = snapshot.line.position_of(place);
    claim->waiting = position.kind != kit::LinePosition::Kind::granted;
    ClaimAnswer answer = answer_for(*claim);
    answer.place = claim->waiting ? static_cast<std::uint32_t>(place) : 0;
    if (!claim->waiting) {
      claim->ahead.clear();
      watch_later(key);
      co_return answer;
    }
    if (position.kind == kit::LinePosition::Kind::behind_all) {
      if (claim->ahead == claim->line) co_return answer;
      // Watch every change of the line, and read it once more: it may have changed before the watch was set.
      claim->ahead = claim->line;
      known_.watch(*session, claim->line, key);
      snapshot =
          co_await reading_line(session, claim->line, key.permits(), Freshness::at_least_ours, Session::Watching::yes);
      continue;
    }
    const std::size_t before = sessions_.address().fair ? position.ahead : snapshot.line.first_ahead_of(place);
    const std::string ahead = claim->line + "/" + snapshot.line.entries()[before].node;
    if (claim->ahead == ahead) co_return answer;
    known_.watch(*session, ahead, key);
    known_.watch(*session, claim->path(), key);
    const base::Future<Reply> watching = session->get(ahead, Session::Watching::yes);
    const base::Future<Reply> own = session->get(claim->path(), Session::Watching::yes);
    const Reply& watched = co_await watching;
    const Reply& itself = co_await own;
    if (itself.outcome == Outcome::no_node) {
      known_.forget(key);
      co_return ClaimAnswer{};
    }
    if (!watched.ok() && watched.outcome != Outcome::no_node) co_return explain(watched, true);
    claim = known_.find(key);
    if (claim == nullptr) co_return ClaimAnswer{};
    if (is_stray(key, ahead, watched)) {  // otherwise this client would wait for itself
      const base::Future<Reply> removing = session->remove(ahead);
      const Reply& removed = co_await removing;
      if (!removed.ok() && removed.outcome != Outcome::no_node) co_return explain(removed, true);
      claim = known_.find(key);
      if (claim == nullptr) co_return ClaimAnswer{};
      snapshot = co_await reading_line(session, claim->line, key.permits(), Freshness::at_least_ours);
      continue;
    }
    // A claim whose data have changed may have been downgraded before the watch was set.
    const bool sure = watched.ok() && (entry->mode.kind != ClaimMode::shared || watched.stat.version == 0);
    if (watched.ok()) claim->ahead = ahead;
    if (sure) co_return answer;
    snapshot = co_await reading_line(session, claim->line, key.permits(), Freshness::at_least_ours);
  }
  KnownClaim* const claim = known_.find(key);
  if (claim == nullptr) co_return ClaimAnswer{};
  ClaimAnswer answer = answer_for(*claim);
  answer.place = 1;
  answer.check_after = 10ms;  // those ahead come and go faster than the line can be read
  co_return answer;
}

// --- claims that this client does not know --------------------------------------------------------------------------

/// Looks for a claim in its line. Its node may have been created although the reply was lost, or by another client.
Operation<std::optional<NodeClaims::FoundClaim>> NodeClaims::finding(SessionPtr session, ClaimKey key) {
  const std::optional<FoundClaim> nothing;
  const std::string path = nodes_.line_of(key.name.text(), key.permits());
  FoundClaim found;
  found.snapshot = co_await reading_line(session, path, key.permits(), Freshness::newest);
  if (!found.snapshot.ok()) co_return explain(found.snapshot.reply, false);
  const Entry* const entry = found.snapshot.line.find(guid_of(key.id));
  if (entry == nullptr) co_return nothing;
  const base::Future<Reply> reading = session->get(path + "/" + entry->node);
  found.own = co_await reading;
  if (found.own.outcome == Outcome::no_node) co_return nothing;
  if (!found.own.ok()) co_return explain(found.own, false);
  const std::size_t place = found.snapshot.line.place_of(*entry);
  const SessionPtr owner = sessions_.with_id(found.own.stat.owner);
  found.is_ours = owner != nullptr;
  found.claim = {.session = owner ? owner : session,
                 .line = path,
                 .node = entry->node,
                 .number = found.own.stat.created,
                 .mode = entry->mode,
                 .waiting = !found.snapshot.line.is_granted(place)};
  found.place = static_cast<std::uint32_t>(place);
  if (found.is_ours && known_.find(key) == nullptr) known_.note(key, found.claim);
  co_return std::optional(std::move(found));
}

/// What can be said of a claim that was found.
ClaimAnswer NodeClaims::answer_for(FoundClaim& found) const {
  ClaimAnswer answer = answer_for(found.claim);
  if (found.claim.waiting) answer.place = found.place;
  if (!found.is_ours) answer.armed_at = base::Instant::min();
  note_release_request(found.claim, found.own, answer);
  return answer;
}

}  // namespace holdfast::zookeeper
