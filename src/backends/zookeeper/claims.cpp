#include "backends/zookeeper/claims.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/record.hpp"
#include "spi/answer_soon.hpp"
#include "spi/part_name.hpp"
#include "spi/rules.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Result;
using Part = Session::Part;
using namespace std::chrono_literals;

namespace {

/// Numbers of grants must stay below.
constexpr std::uint64_t number_end = std::uint64_t{1} << 56U;

constexpr int attempts = 8;

/// Who holds for longer wants to know at once when somebody touches its node; others hear of it when they renew.
constexpr spi::Duration long_held = 50ms;

std::optional<Failure> why_unsupported(const ClaimRequest& request, const Address& address) {
  if (request.kind == LeaseKind::fixed) {
    return Failure{Errc::unsupported, address.shown() +
                                          " has no fixed leases: a lock lasts as long as its client's session, which "
                                          "is always renewed"};
  }
  if (request.lock_delay > 0ms) {
    return Failure{Errc::unsupported,
                   address.shown() + " cannot keep a name closed after its holder's end (lock_delay)"};
  }
  return std::nullopt;
}

std::string one_claim(const ClaimKey& key) { return key.name.text() + '\0' + guid_of(key.id); }

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Reply outcome_only(Outcome outcome) {
  Reply reply;
  reply.outcome = outcome;
  return reply;
}

}  // namespace

Failure NodeClaims::explain(const Reply& reply, bool doubtful) const {
  return zookeeper::explain(reply, sessions_.address(), doubtful);
}

/// Whether requests on this line may be sent one after the other, without waiting for answers: all use one connection,
/// whose order the servers keep, and nothing has to be made first, because a node of ours keeps the one above alive.
bool NodeClaims::can_be_followed(const std::string& line) const {
  return sessions_.is_only_one() && known_.has_any_in(line);
}

ClaimAnswer NodeClaims::answer_for(const KnownClaim& claim) const {
  ClaimAnswer answer;
  answer.standing = claim.waiting ? ClaimAnswer::Standing::waiting : ClaimAnswer::Standing::granted;
  answer.number = claim.number;
  answer.lease = claim.session->timeout();
  answer.armed_at = claim.session->proved_since();
  return answer;
}

// --- acquire --------------------------------------------------------------------------------------------------------

void NodeClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  if (auto failure = spi::why_invalid(request)) return spi::answer_soon(loop_, std::move(done), *std::move(failure));
  if (auto failure = why_unsupported(request, sessions_.address())) {
    return spi::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  run_acquire(make_call(calls_, spi::patience(request.lease), std::move(done)), {.key = {request.id, request.name},
                                                                                 .mode = request.mode,
                                                                                 .lease = request.lease,
                                                                                 .when_busy = request.when_busy,
                                                                                 .replaces = request.replaces,
                                                                                 .client = request.client,
                                                                                 .reason = request.reason});
}

Detached NodeClaims::run_acquire(AcquireCall call, Wish wish) {
  const SessionPtr session = sessions_.for_lease(wish.lease);
  NameGate::Place place = names_.enter(wish.key.name.text());
  co_await place;
  NameGate::Place own = claims_.enter(one_claim(wish.key));
  co_await own;
  if (call->over()) co_return;
  while (!session->is_up() && !session->has_ended() && !call->over()) co_await session->change();
  if (call->over()) co_return;
  if (!session->is_up()) {
    call->answer(session->hindrance());
    co_return;
  }
  if (session->timeout() < wish.lease) {
    call->answer(too_long(sessions_.address(), wish.lease, session->timeout()));
    co_return;
  }
  if (known_.find(wish.key) != nullptr || known_.is_doubtful(wish.key)) {
    Flow<std::optional<Standing>> finding = find_again(call, session, wish);
    std::optional<Standing> found = co_await finding;
    if (call->over()) co_return;
    if (found) {
      call->answer(*std::move(found));
      co_return;
    }
  }
  Flow<Standing> joining = join(call, session, wish, place);
  Standing standing = co_await joining;
  call->answer(std::move(standing));
}

/// It was asked for before: whatever became of that is found under its id. Empty if there is nothing.
Flow<std::optional<NodeClaims::Standing>> NodeClaims::find_again(AcquireCall call, SessionPtr session, Wish wish) {
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.permits());
  Flow<SeenLine> seeing = see(session, path, wish.permits(), Freshness::newest);
  SeenLine seen = co_await seeing;
  if (!seen.ok()) co_return Standing(explain(seen.reply, false));
  const Entry* const entry = seen.line.find(guid_of(wish.key.id));
  if (entry == nullptr) {
    known_.forget(wish.key);
    co_return std::nullopt;
  }
  const std::string own = path + "/" + entry->node;
  Sent asked = session->get(own, Session::Watching::no);
  Reply& stat = co_await asked;
  if (stat.outcome == Outcome::no_node) {
    known_.forget(wish.key);
    co_return std::nullopt;
  }
  if (!stat.ok()) co_return Standing(explain(stat, false));
  const SessionPtr owner = sessions_.with_id(stat.stat.owner);
  if (!owner) {  // of a session that has ended for us: never to be believed in, and in the way
    Sent removing = session->remove(own);
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
    Flow<Result<bool>> leaving = leave(session, {*wish.replaces, wish.key.name});
    Result<bool> left = co_await leaving;
    if (!left.ok()) co_return Standing(left.failure());
    Flow<SeenLine> seeing_again = see(session, path, wish.permits(), Freshness::newest);
    seen = co_await seeing_again;
  }
  Flow<Reply> beating = sessions_.beat(owner);  // repeating it re-arms the lease
  const Reply beaten = co_await beating;
  if (!beaten.ok()) co_return Standing(explain(beaten, false));
  Flow<Standing> finding = stand(wish.key, std::move(seen));
  Standing standing = co_await finding;
  KnownClaim* const claim = known_.find(wish.key);
  if (claim != nullptr && standing.ok()) note_data(*claim, stat, standing.value());
  co_return standing;
}

Flow<NodeClaims::Standing> NodeClaims::join(AcquireCall call, SessionPtr session, Wish wish, NameGate::Place& place) {
  const bool permits = wish.permits();
  const std::string path = nodes_.line_of(wish.key.name.text(), permits);
  const std::string fresh = path + "/" + new_node_of(wish.key.id, wish.mode);
  std::string record;
  {
    Record own;
    if (wish.client) own.client = *wish.client;
    own.reason = wish.reason;
    own.lease = session->timeout();
    record = own.text();
  }

  std::optional<KnownClaim> replaced;
  if (wish.replaces && *wish.replaces != wish.key.id) {
    const ClaimKey old = {*wish.replaces, wish.key.name};
    Flow<Result<std::optional<FoundClaim>>> finding = find(session, old);
    Result<std::optional<FoundClaim>> found = co_await finding;
    if (call->over()) co_return ClaimAnswer{};
    if (!found.ok()) co_return found.failure();
    if (found.value()) replaced = std::move(found.value()->claim);
  }
  // Look first where there may be a reason not to join: a try that is refused writes nothing.
  if (wish.when_busy == spi::WhenBusy::refuse || permits) {
    Flow<SeenLine> seeing = see(session, path, permits, Freshness::newest);
    SeenLine seen = co_await seeing;
    if (call->over()) co_return ClaimAnswer{};
    if (!seen.ok()) co_return explain(seen.reply, false);
    if (replaced) seen.line.erase(guid_of(*wish.replaces));
    const bool other_total = permits && !seen.line.entries.empty() && seen.line.total != wish.mode.limit;
    const bool busy = wish.when_busy == spi::WhenBusy::refuse && !seen.line.admits(wish.mode);
    if (other_total || busy) {
      if (replaced) {
        call->is_in_doubt();
        Flow<Result<bool>> leaving = leave(session, {*wish.replaces, wish.key.name});
        Result<bool> left = co_await leaving;
        if (!left.ok()) co_return left.failure();
      }
      if (busy && !other_total) co_return ClaimAnswer{};
      co_return spi::different_total({.name = wish.key.name, .id = wish.key.id, .mode = wish.mode}, seen.line.total);
    }
  }

  for (int attempt = 0; attempt < attempts && !call->over(); ++attempt) {
    call->is_in_doubt();
    known_.doubt(wish.key);
    std::vector<Part> parts;
    if (replaced) {
      parts.push_back({.kind = Part::Kind::remove, .path = replaced->path()});
      if (replaced->was_downgraded()) {
        const std::string mark = mark_of_shared(*wish.replaces, replaced->sequence());
        parts.push_back({.kind = Part::Kind::remove, .path = replaced->line + "/" + mark});
      }
      parts.push_back({.kind = Part::Kind::create,
                       .path = fresh,
                       .data = record,
                       .lasting = Session::Lasting::ephemeral_sequential});
    }
    Sent creating = parts.empty() ? session->create(fresh, record, Session::Lasting::ephemeral_sequential)
                                  : session->together(parts);
    Flow<SeenLine> seeing = see(session, path, permits, Freshness::at_least_ours);
    // If it replaces or refuses, there may be more to do.
    if (!replaced && wish.when_busy == spi::WhenBusy::wait && can_be_followed(path)) place.leave();
    Reply& created = co_await creating;
    SeenLine seen = co_await seeing;
    if (created.outcome == Outcome::no_node) {
      known_.forget(wish.key);
      if (replaced) {  // it may have gone meanwhile
        Flow<Result<std::optional<FoundClaim>>> finding = find(session, {*wish.replaces, wish.key.name});
        Result<std::optional<FoundClaim>> found = co_await finding;
        if (!found.ok()) co_return found.failure();
        replaced = found.value() ? std::optional(std::move(found.value()->claim)) : std::nullopt;
      }
      Flow<Reply> making = sessions_.make_path(session, path, Session::Lasting::container);
      const Reply made = co_await making;
      if (made.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
      if (!made.ok()) co_return explain(made, false);
      continue;
    }
    if (!created.ok()) {
      if (created.outcome != Outcome::lost) known_.forget(wish.key);
      co_return explain(created, true);
    }
    if (replaced) known_.forget({*wish.replaces, wish.key.name});
    KnownClaim& claim = known_.note(wish.key, {.session = session,
                                               .line = path,
                                               .node = last_part(created.text),
                                               .number = created.stat.created,
                                               .mode = wish.mode,
                                               .waiting = true});
    if (claim.number == 0) {  // a change of several parts does not tell it
      Sent asking = session->get(claim.path());
      const Reply& own = co_await asking;
      if (own.outcome == Outcome::no_node) {
        known_.forget(wish.key);
        co_return ClaimAnswer{};
      }
      if (!own.ok()) {
        known_.doubt(wish.key);
        co_return explain(own, true);
      }
      KnownClaim* const still = known_.find(wish.key);
      if (still == nullptr) co_return ClaimAnswer{};
      still->number = own.stat.created;
    }
    const bool other_total = permits && seen.ok() && seen.line.total != wish.mode.limit;
    if (other_total) {
      Flow<Result<bool>> leaving = leave(session, wish.key);
      Result<bool> left = co_await leaving;
      if (!left.ok()) co_return left.failure();
      co_return spi::different_total({.name = wish.key.name, .id = wish.key.id, .mode = wish.mode}, seen.line.total);
    }
    Flow<Standing> finding = stand(wish.key, std::move(seen));
    Standing standing = co_await finding;
    const bool waits = standing.ok() && standing.value().standing == ClaimAnswer::Standing::waiting;
    if (!waits || wish.when_busy == spi::WhenBusy::wait) co_return standing;
    Flow<Result<bool>> leaving = leave(session, wish.key);  // somebody else was quicker
    Result<bool> left = co_await leaving;
    if (!left.ok()) co_return left.failure();
    co_return ClaimAnswer{};
  }
  co_return explain(outcome_only(Outcome::no_node), true);
}

/// Finds out whether its turn has come, and makes sure to hear when that may have changed.
Flow<NodeClaims::Standing> NodeClaims::stand(ClaimKey key, SeenLine seen) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    KnownClaim* claim = known_.find(key);
    if (claim == nullptr) co_return ClaimAnswer{};
    const SessionPtr session = claim->session;
    const bool permits = claim->mode.kind == ClaimMode::permits;
    if (!seen.ok()) co_return explain(seen.reply, true);
    if (claim->number >= number_end) {
      co_return Failure{Errc::store_failed,
                        sessions_.address().shown() + " has had too many leaders: its numbers do not fit"};
    }
    const Entry* const entry = seen.line.find(guid_of(key.id));
    if (entry == nullptr || entry->node != claim->node) {
      known_.forget(key);
      co_return ClaimAnswer{};
    }
    const std::size_t place = seen.line.place_of(*entry);
    const spi::Turn turn = seen.line.turn_of(place);
    claim->waiting = turn.kind != spi::Turn::Kind::granted;
    ClaimAnswer answer = answer_for(*claim);
    answer.place = claim->waiting ? static_cast<std::uint32_t>(place) : 0;
    if (!claim->waiting) {
      claim->ahead.clear();
      listen_later(key);
      co_return answer;
    }
    if (turn.kind == spi::Turn::Kind::behind_all) {
      if (claim->ahead == claim->line) co_return answer;
      // Hear of every change, and look once more: it may have come before.
      claim->ahead = claim->line;
      known_.listen(*session, claim->line, key);
      Flow<SeenLine> seeing = see(session, claim->line, permits, Freshness::at_least_ours, Session::Watching::yes);
      seen = co_await seeing;
      continue;
    }
    const std::string ahead = claim->line + "/" + seen.line.entries[turn.ahead].node;
    if (claim->ahead == ahead) co_return answer;
    known_.listen(*session, ahead, key);
    known_.listen(*session, claim->path(), key);
    Sent watching = session->get(ahead, Session::Watching::yes);
    Sent own = session->get(claim->path(), Session::Watching::yes);
    const Reply& watched = co_await watching;
    const Reply& itself = co_await own;
    if (itself.outcome == Outcome::no_node) {
      known_.forget(key);
      co_return ClaimAnswer{};
    }
    if (!watched.ok() && watched.outcome != Outcome::no_node) co_return explain(watched, true);
    claim = known_.find(key);
    if (claim == nullptr) co_return ClaimAnswer{};
    // One whose data have changed may have become shared before we could hear of it.
    const bool sure = watched.ok() && (entry->mode.kind != ClaimMode::shared || watched.stat.version == 0);
    if (watched.ok()) claim->ahead = ahead;
    if (sure) co_return answer;
    Flow<SeenLine> seeing = see(session, claim->line, permits, Freshness::at_least_ours);
    seen = co_await seeing;
  }
  KnownClaim* const claim = known_.find(key);
  if (claim == nullptr) co_return ClaimAnswer{};
  ClaimAnswer answer = answer_for(*claim);
  answer.place = 1;
  answer.check_after = 10ms;  // those ahead come and go faster than we look
  co_return answer;
}

// --- release --------------------------------------------------------------------------------------------------------

void NodeClaims::release(const ClaimRef& claim, Done<bool> done) {
  run_release(make_call(calls_, spi::patience(claim.lease), std::move(done)), {claim.id, claim.name});
}

Detached NodeClaims::run_release(CallPtr<bool> call, ClaimKey key) {
  // Nobody may be waiting for it, and so nobody reads; but if it takes several steps, somebody must.
  std::optional<spi::Expectation> reading;
  const KnownClaim* const before = known_.find(key);
  if (before == nullptr || !before->session->is_up() || !names_.is_free(key.name.text()) ||
      !claims_.is_free(one_claim(key))) {
    reading.emplace(loop_, spi::Expectation::Of::upkeep);
  }
  NameGate::Place place = names_.enter(key.name.text());
  co_await place;
  NameGate::Place own = claims_.enter(one_claim(key));
  co_await own;
  if (call->over()) co_return;
  const KnownClaim* const claim = known_.find(key);
  const bool alive = claim != nullptr && !claim->session->has_ended();
  const SessionPtr session = alive ? claim->session : sessions_.any();
  while (!session->is_up() && !session->has_ended() && !call->over()) co_await session->change();
  if (call->over()) co_return;
  if (!session->is_up()) {
    call->answer(session->hindrance());
    co_return;
  }
  call->is_in_doubt();
  const bool one_step = known_.find(key) != nullptr;
  Flow<Result<bool>> leaving = leave(session, key);
  // What comes later on the same connection is executed later.
  if (one_step && sessions_.is_only_one()) {
    own.leave();
    place.leave();
  }
  Result<bool> left = co_await leaving;
  call->answer(std::move(left));
}

/// Removes the nodes of a claim, wherever it stands.
Flow<Result<bool>> NodeClaims::leave(SessionPtr session, ClaimKey key) {
  std::optional<KnownClaim> claim;
  if (const KnownClaim* const known = known_.find(key)) {
    claim = *known;
  } else {
    Flow<Result<std::optional<FoundClaim>>> finding = find(session, key);
    Result<std::optional<FoundClaim>> found = co_await finding;
    if (!found.ok()) co_return found.failure();
    if (!found.value()) {
      known_.forget(key);
      co_return false;
    }
    claim = std::move(found.value()->claim);
  }
  known_.forget(key);
  Sent removing = session->remove(claim->path());
  std::optional<Sent> unmarking;
  if (claim->was_downgraded()) {
    unmarking = session->remove(claim->line + "/" + mark_of_shared(key.id, claim->sequence()));
  }
  const Reply& removed = co_await removing;
  if (unmarking) co_await *unmarking;
  if (removed.ok()) co_return true;
  if (removed.outcome == Outcome::no_node || removed.outcome == Outcome::session_ended) co_return false;
  known_.doubt(key);  // it may be there when it is asked for again
  co_return explain(removed, true);
}

/// Looks for a claim that we know nothing of: its node may have been made without our hearing of it, or is somebody
/// else's.
Flow<Result<std::optional<NodeClaims::FoundClaim>>> NodeClaims::find(SessionPtr session, ClaimKey key) {
  const std::string guid = guid_of(key.id);
  for (const bool permits : {false, true}) {
    const std::string path = nodes_.line_of(key.name.text(), permits);
    Flow<SeenLine> seeing = see(session, path, permits, Freshness::newest);
    SeenLine seen = co_await seeing;
    if (!seen.ok()) co_return explain(seen.reply, false);
    const Entry* const entry = seen.line.find(guid);
    if (entry == nullptr) continue;
    Sent asking = session->get(path + "/" + entry->node);
    Reply& own = co_await asking;
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
  if (!found.is_ours) answer.armed_at = spi::Instant::min();
  note_data(found.claim, found.own, answer);
  return answer;
}

// --- downgrade ------------------------------------------------------------------------------------------------------

void NodeClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  run_downgrade(make_call(calls_, spi::patience(claim.lease), std::move(done)), {claim.id, claim.name});
}

Detached NodeClaims::run_downgrade(AcquireCall call, ClaimKey key) {
  NameGate::Place place = names_.enter(key.name.text());
  co_await place;
  NameGate::Place own = claims_.enter(one_claim(key));
  co_await own;
  if (call->over()) co_return;
  const KnownClaim* const known = known_.find(key);
  const SessionPtr session = known != nullptr && !known->session->has_ended() ? known->session : sessions_.any();
  while (!session->is_up() && !session->has_ended() && !call->over()) co_await session->change();
  if (call->over()) co_return;
  if (!session->is_up()) {
    call->answer(session->hindrance());
    co_return;
  }
  Flow<Result<std::optional<FoundClaim>>> finding = find(session, key);
  Result<std::optional<FoundClaim>> looked = co_await finding;
  if (call->over()) co_return;
  if (!looked.ok() || !looked.value()) {
    if (looked.ok()) known_.forget(key);
    call->answer(looked.ok() ? Result<ClaimAnswer>(ClaimAnswer{}) : Result<ClaimAnswer>(looked.failure()));
    co_return;
  }
  FoundClaim& found = *looked.value();
  if (found.claim.mode.kind == ClaimMode::permits) {
    call->answer(spi::cannot_downgrade_permits(key.name));
    co_return;
  }
  if (!found.claim.waiting && found.claim.mode.kind == ClaimMode::exclusive) {
    call->is_in_doubt();
    // Whoever waits watches the data of the node, so they change, too.
    const std::string mark = found.claim.line + "/" + mark_of_shared(key.id, found.claim.sequence());
    std::vector<Part> parts(2);
    parts[0] = {.kind = Part::Kind::create, .path = mark};
    parts[1] = {.kind = Part::Kind::set, .path = found.claim.path(), .data = found.own.text};
    Sent marking = session->together(parts);
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

// --- what is heard --------------------------------------------------------------------------------------------------

void NodeClaims::check_soon(const ClaimKey& key) {
  loop_.defer([this, key, alive = alive_] {
    if (*alive) events_.check(key.name, key.id);
  });
}

void NodeClaims::listen_later(const ClaimKey& key) {
  held_.push_back({loop_.now(), key});
  if (!long_held_timer_.armed()) long_held_timer_.set(loop_.now() + long_held);
}

/// What happened before we could hear of it is seen.
Detached NodeClaims::run_listen(ClaimKey key) {
  const KnownClaim* const claim = known_.find(key);
  known_.listen(*claim->session, claim->path(), key);
  Sent asking = claim->session->get(claim->path(), Session::Watching::yes);
  const Reply& own = co_await asking;
  const bool touched = own.outcome == Outcome::no_node || (own.ok() && own.stat.version > 0);
  if (touched && *alive_ && known_.find(key) != nullptr) events_.check(key.name, key.id);
}

void NodeClaims::listen_to_long_held() {
  const spi::Instant now = loop_.now();
  while (!held_.empty() && held_.front().since + long_held <= now) {
    const ClaimKey key = std::move(held_.front().key);
    held_.pop_front();
    const KnownClaim* const claim = known_.find(key);
    if (claim == nullptr || claim->waiting) continue;
    run_listen(key);
  }
  if (!held_.empty()) long_held_timer_.set(held_.front().since + long_held);
}

void NodeClaims::node_changed(Session& session, const std::string& path) {
  if (!*alive_) return;
  for (const ClaimKey& key : known_.take_listeners(session, path)) {
    KnownClaim* const claim = known_.find(key);
    if (claim == nullptr) continue;
    if (claim->ahead == path) claim->ahead.clear();
    if (claim->waiting && claim->path() != path) {
      run_look(key);
    } else {
      events_.check(key.name, key.id);
    }
  }
}

/// Its turn may have come: then the core need not ask.
Detached NodeClaims::run_look(ClaimKey key) {
  const KnownClaim* const claim = known_.find(key);
  const bool permits = claim->mode.kind == ClaimMode::permits;
  Flow<SeenLine> seeing = see(claim->session, claim->line, permits, Freshness::at_least_ours);
  SeenLine seen = co_await seeing;
  Flow<Standing> standing = stand(key, std::move(seen));
  Standing where = co_await standing;
  if (!*alive_ || !where.ok()) co_return;  // the core's own renewals will do
  ClaimAnswer& answer = where.value();
  if (answer.standing == ClaimAnswer::Standing::granted) {
    answer.armed_at = spi::Instant::min();
    events_.granted(key.name, key.id, answer);
  } else if (answer.standing == ClaimAnswer::Standing::absent || answer.check_after > 0ms) {
    events_.check(key.name, key.id);
  }
}

void NodeClaims::session_resumed(Session& session) {
  for (const ClaimKey& key : known_.of_session(session)) {
    if (known_.find(key)->waiting) check_soon(key);
  }
}

void NodeClaims::session_ended(Session& session) {
  known_.forget_listeners(session);
  for (const ClaimKey& key : known_.of_session(session)) check_soon(key);
}

}  // namespace holdfast::zookeeper
