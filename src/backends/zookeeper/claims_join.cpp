// Joining a line.

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "backends/zookeeper/claims.hpp"
#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/record.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::Operation;
using Part = Session::Part;
using namespace std::chrono_literals;

namespace {

constexpr int attempts = 8;

std::optional<Failure> why_unsupported(const ClaimRequest& request, const Address& address) {
  if (request.lease_kind == LeaseKind::fixed) {
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

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The name that a claim's node will have if the claim is alone in its line; empty if that cannot be foreseen. With any
/// other name, there may be others. With this one there are none:
/// - The claim that it replaces is exclusive and had its turn: whatever was made before its node had gone.
/// - The servers number new nodes by how many were ever made in the line, by anybody: nothing was made between the two.
/// - Its node was still there, because the change that makes ours removes it: so it is the same line, not one that was
///   removed and is counted anew, and it had its turn until then.
std::optional<std::string> node_if_alone(const std::string& line, const std::string& new_node,
                                         const std::optional<KnownClaim>& replaced) {
  const bool held_alone =
      replaced && replaced->line == line && !replaced->waiting && replaced->mode.kind == ClaimMode::exclusive;
  if (!held_alone) return std::nullopt;
  return node_after(replaced->sequence(), new_node);
}

}  // namespace

void NodeClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  if (auto failure = kit::why_invalid(request)) return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  if (auto failure = why_unsupported(request, sessions_.address())) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  Wish wish = {.key = {request.id, request.name, request.kind()},
               .mode = request.mode,
               .lease = request.lease,
               .when_busy = request.when_busy,
               .replaces = request.replaces,
               .client = request.client,
               .reason = request.reason};
  calls_.start(spi::patience(request.lease), std::move(done),
               [&](CallPtr call) { return acquiring(std::move(call), std::move(wish)); });
}

Operation<ClaimAnswer> NodeClaims::acquiring(CallPtr call, Wish wish) {
  const SessionPtr session = sessions_.for_lease(wish.lease);
  kit::RequestOrder::Place place = names_.enter(wish.key.name.text());
  co_await place;
  const kit::RequestOrder::Place own = claims_.enter(wish.key.queue_name());
  co_await own;
  if (call->over()) co_return nobody_waits();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  if (session->timeout() < wish.lease) co_return too_long(sessions_.address(), wish.lease, session->timeout());
  if (known_.find(wish.key) != nullptr || known_.is_doubtful(wish.key)) {
    auto found = co_await finding_again(call, session, wish);
    if (call->over()) co_return nobody_waits();
    if (!found.ok()) co_return std::move(found.failure());
    if (found.value()) co_return *std::move(found.value());
  }
  auto answer = co_await joining(call, session, wish, place);
  co_return answer;
}

/// It was asked for before: whatever became of that is found under its id. Empty if there is nothing.
Operation<std::optional<ClaimAnswer>> NodeClaims::finding_again(CallPtr call, SessionPtr session, const Wish& wish) {
  const std::optional<ClaimAnswer> nothing;
  auto looked = co_await finding(session, wish.key);
  if (!looked.ok()) co_return std::move(looked.failure());
  if (!looked.value()) {
    known_.forget(wish.key);
    co_return nothing;
  }
  FoundClaim& found = *looked.value();
  if (!found.is_ours) {  // of a session that has ended for us: never to be believed in, and in the way
    const Reply removed = co_await session->remove(found.claim.path());
    known_.forget(wish.key);
    if (removed.ok() || removed.outcome == Outcome::no_node) co_return nothing;
    co_return explain(removed, false);
  }
  const SessionPtr owner = found.claim.session;
  found.claim.waiting = true;
  known_.note(wish.key, found.claim);
  if (wish.replaces_another()) {
    // What it replaces goes whether or not it is there itself already; where it stands depends on that.
    call->is_in_doubt();
    auto left = co_await leaving(session, wish.replaced_key());
    if (!left.ok()) co_return std::move(left.failure());
    found.seen = co_await see(session, found.claim.line, wish.key.permits(), Freshness::newest);
  }
  const Reply beaten = co_await sessions_.beat(owner);  // repeating it re-arms the lease
  if (!beaten.ok()) co_return explain(beaten, false);
  auto answer = co_await standing(wish.key, std::move(found.seen));
  if (!answer.ok()) co_return std::move(answer.failure());
  if (KnownClaim* const claim = known_.find(wish.key)) note_data(*claim, found.own, answer.value());
  co_return std::optional(std::move(answer.value()));
}

Operation<ClaimAnswer> NodeClaims::joining(CallPtr call, SessionPtr session, const Wish& wish,
                                           kit::RequestOrder::Place& place) {
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.key.permits());
  std::optional<KnownClaim> replaced;
  if (wish.replaces_another()) {
    const ClaimKey old = wish.replaced_key();
    if (const KnownClaim* const known = known_.find(old)) {
      replaced = *known;
    } else if (!known_.is_leaving(old, *session)) {
      auto found = co_await finding(session, old);
      if (call->over()) co_return nobody_waits();
      if (!found.ok()) co_return std::move(found.failure());
      if (found.value()) replaced = std::move(found.value()->claim);
    }
  }
  // Where there may be a reason not to join. (A claim of ours in the line shows that its total is the same.)
  const bool may_differ = wish.key.permits() && !known_.has_permits_in(path, wish.mode.limit);
  if (wish.when_busy == spi::WhenBusy::refuse || may_differ) {
    auto refused = co_await looking_before(call, session, wish, replaced.has_value());
    if (call->over()) co_return nobody_waits();
    if (!refused.ok()) co_return std::move(refused.failure());
    if (refused.value()) co_return *std::move(refused.value());
  }
  for (int attempt = 0; attempt < attempts && !call->over(); ++attempt) {
    call->is_in_doubt();
    known_.doubt(wish.key);
    const base::Future<Joined> making = base::started(making_node(session, path, wish, replaced));
    // If it replaces or refuses, there may be more to do.
    if (!replaced && wish.when_busy == spi::WhenBusy::wait && can_be_followed(path)) place.leave();
    Joined& joined = co_await making;
    const Reply& created = joined.created;
    if (created.outcome == Outcome::no_node) {
      known_.forget(wish.key);
      if (replaced) {  // it may have gone meanwhile
        auto found = co_await finding(session, wish.replaced_key());
        if (!found.ok()) co_return std::move(found.failure());
        replaced = found.value() ? std::optional(std::move(found.value()->claim)) : std::nullopt;
      }
      const Reply made = co_await sessions_.make_path(session, path, Session::Lasting::container);
      if (made.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
      if (!made.ok()) co_return explain(made, false);
      continue;
    }
    if (!created.ok()) {
      if (created.outcome != Outcome::lost) known_.forget(wish.key);
      co_return explain(created, true);
    }
    if (replaced) known_.forget(wish.replaced_key());
    known_.note(wish.key, {.session = session,
                           .line = path,
                           .node = last_part(created.text),
                           .number = replaced ? created.stat.data_changed : created.stat.created,
                           .mode = wish.mode,
                           .waiting = true});
    auto answer = co_await settling(session, wish, std::move(joined.seen));
    co_return answer;
  }
  co_return explain({.outcome = Outcome::no_node}, true);
}

/// A try that is refused writes nothing, except that what it replaces goes. Empty if there is no reason to refuse.
Operation<std::optional<ClaimAnswer>> NodeClaims::looking_before(CallPtr call, SessionPtr session, const Wish& wish,
                                                                 bool replaces) {
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.key.permits());
  SeenLine seen = co_await see(session, path, wish.key.permits(), Freshness::newest);
  if (call->over()) co_return nobody_waits();
  if (!seen.ok()) co_return explain(seen.reply, false);
  if (replaces) seen.line = seen.line.without(guid_of(*wish.replaces));
  const bool other_total = wish.key.permits() && !seen.line.empty() && seen.line.total() != wish.mode.limit;
  const bool busy = wish.when_busy == spi::WhenBusy::refuse && !seen.line.admits(wish.mode);
  if (!other_total && !busy) co_return std::optional<ClaimAnswer>();
  if (replaces) {
    call->is_in_doubt();
    auto left = co_await leaving(session, wish.replaced_key());
    if (!left.ok()) co_return std::move(left.failure());
  }
  if (other_total) co_return different_total(wish, seen.line);
  co_return std::optional(ClaimAnswer{});
}

/// Makes the claim's node and reads its line, which it need not do if the node's name shows that nobody else is there.
base::Coroutine<NodeClaims::Joined> NodeClaims::making_node(SessionPtr session, const std::string& line,
                                                            const Wish& wish,
                                                            const std::optional<KnownClaim>& replaced) {
  const auto if_alone = node_if_alone(line, new_node_of(wish.key.id, wish.mode), replaced);
  Joined joined;
  const base::Future<Reply> creating = create_node(*session, line, wish, replaced);
  if (!if_alone) {
    const auto seeing = base::started(see(session, line, wish.key.permits(), Freshness::at_least_ours));
    joined.created = std::move(co_await creating);
    joined.seen = std::move(co_await seeing);
    co_return joined;
  }
  joined.created = std::move(co_await creating);
  if (!joined.created.ok()) co_return joined;
  if (last_part(joined.created.text) == *if_alone) {
    joined.seen = {.outcome = Outcome::ok, .exists = true, .line = Line::from({*if_alone}, std::nullopt)};
    co_return joined;
  }
  joined.seen = co_await see(session, line, wish.key.permits(), Freshness::at_least_ours);
  co_return joined;
}

/// Makes the claim's node, and removes that of the claim it replaces in the same step.
base::Future<Reply> NodeClaims::create_node(Session& session, const std::string& line, const Wish& wish,
                                            const std::optional<KnownClaim>& replaced) {
  const std::string path = line + "/" + new_node_of(wish.key.id, wish.mode);
  Record record = {.reason = wish.reason, .lease = session.timeout()};
  if (wish.client) record.client = *wish.client;
  if (!replaced) return session.create(path, record.text(), Session::Lasting::ephemeral_sequential);
  std::vector<Part> parts;
  // Of a change with several parts, the library tells the stat of what was set, but not of what was created. All parts
  // have the number of the change: so what goes is set first, and tells us the number of what comes.
  parts.push_back({.kind = Part::Kind::set, .path = replaced->path()});
  parts.push_back({.kind = Part::Kind::remove, .path = replaced->path()});
  if (replaced->was_downgraded()) {
    const std::string mark = mark_of_shared(*wish.replaces, replaced->sequence());
    parts.push_back({.kind = Part::Kind::remove, .path = replaced->line + "/" + mark});
  }
  parts.push_back({.kind = Part::Kind::create,
                   .path = path,
                   .data = record.text(),
                   .lasting = Session::Lasting::ephemeral_sequential});
  return session.together(parts);
}

/// Its node is in the line: finds out where it stands there, and leaves again if it must not stay.
Operation<ClaimAnswer> NodeClaims::settling(SessionPtr session, const Wish& wish, SeenLine seen) {
  std::optional<Failure> failure;
  if (wish.key.permits() && seen.ok() && seen.line.total() != wish.mode.limit) {
    failure = different_total(wish, seen.line);
  } else {
    auto answer = co_await standing(wish.key, std::move(seen));
    const bool waits = answer.ok() && answer.value().standing == ClaimAnswer::Standing::waiting;
    if (!waits || wish.when_busy == spi::WhenBusy::wait) co_return answer;
  }
  auto left = co_await leaving(session, wish.key);
  if (!left.ok()) co_return std::move(left.failure());
  if (failure) co_return *std::move(failure);
  co_return ClaimAnswer{};  // somebody else was quicker
}

Failure NodeClaims::different_total(const Wish& wish, const Line& line) {
  return kit::different_total({.name = wish.key.name, .id = wish.key.id, .mode = wish.mode}, line.total());
}

/// Whether requests on this line may be sent one after the other, without waiting for answers: all use one connection,
/// whose order the servers keep, and nothing has to be made first, because a node of ours keeps the one above alive.
bool NodeClaims::can_be_followed(const std::string& line) const {
  return sessions_.is_only_one() && known_.has_any_in(line);
}

}  // namespace holdfast::zookeeper
