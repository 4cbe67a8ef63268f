// Acquiring: joining a line.

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
                                          " does not support fixed leases: a lock lasts as long as its client's "
                                          "session, which is always renewed"};
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
/// - The claim that it replaces is exclusive and was granted: whatever was made before its node had gone.
/// - The servers number new nodes by how many were ever made in the line, by anybody: nothing was made between the two.
/// - Its node was still there, because the change that makes ours removes it: so it is the same line, not one that was
///   removed and is counted anew, and it was granted until then.
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
  Wanted wanted = {.key = {request.name, request.kind(), request.id},
                   .mode = request.mode,
                   .lease = request.lease,
                   .when_busy = request.when_busy,
                   .replaces = request.replaces,
                   .client = request.client,
                   .reason = request.reason};
  calls_.start(spi::patience(request.lease), std::move(done),
               [&](CallPtr call) { return acquiring(std::move(call), std::move(wanted)); });
}

Operation<ClaimAnswer> NodeClaims::acquiring(CallPtr call, Wanted wanted) {
  const SessionPtr session = sessions_.for_lease(wanted.lease);
  kit::RequestOrder::Place place = order_by_name_.enter(wanted.key.name.text());
  co_await place;
  const kit::RequestOrder::Place own = order_by_claim_.enter(queue_name_of(wanted.key));
  co_await own;
  if (call->over()) co_return nobody_waits();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  if (session->timeout() < wanted.lease) co_return too_long(sessions_.address(), wanted.lease, session->timeout());
  if (known_.find(wanted.key) != nullptr || known_.is_doubtful(wanted.key)) {
    auto found = co_await finding_again(call, session, wanted);
    if (call->over()) co_return nobody_waits();
    if (!found.ok()) co_return std::move(found.failure());
    if (found.value()) co_return *std::move(found.value());
  }
  auto answer = co_await joining(call, session, wanted, place);
  co_return answer;
}

/// The claim was asked for before, so its node may exist already; the claim's id is in the node's name. Empty if it
/// does not exist.
Operation<std::optional<ClaimAnswer>> NodeClaims::finding_again(CallPtr call, SessionPtr session,
                                                                const Wanted& wanted) {
  const std::optional<ClaimAnswer> nothing;
  auto looked = co_await finding(session, wanted.key);
  if (!looked.ok()) co_return std::move(looked.failure());
  if (!looked.value()) {
    known_.forget(wanted.key);
    co_return nothing;
  }
  FoundClaim& found = *looked.value();
  if (!found.is_ours) {  // its session has ended for this client, so it can never be held, and it is in the way
    const Reply removed = co_await session->remove(found.claim.path());
    known_.forget(wanted.key);
    if (removed.ok() || removed.outcome == Outcome::no_node) co_return nothing;
    co_return explain(removed, false);
  }
  const SessionPtr owner = found.claim.session;
  found.claim.waiting = true;
  known_.note(wanted.key, found.claim);
  if (wanted.replaces_another()) {
    // What it replaces is withdrawn even if it has joined already; its own place depends on that.
    call->is_in_doubt();
    auto left = co_await removing(session, wanted.replaced_key());
    if (!left.ok()) co_return std::move(left.failure());
    found.snapshot = co_await reading_line(session, found.claim.line, wanted.key.permits(), Freshness::newest);
  }
  const Reply beaten = co_await sessions_.heartbeat(owner);  // repeating an acquire re-arms the lease
  if (!beaten.ok()) co_return explain(beaten, false);
  auto answer = co_await refreshing(wanted.key, std::move(found.snapshot));
  if (!answer.ok()) co_return std::move(answer.failure());
  if (KnownClaim* const claim = known_.find(wanted.key)) note_release_request(*claim, found.own, answer.value());
  co_return std::optional(std::move(answer.value()));
}

Operation<ClaimAnswer> NodeClaims::joining(CallPtr call, SessionPtr session, const Wanted& wanted,
                                           kit::RequestOrder::Place& place) {
  const std::string path = nodes_.line_of(wanted.key.name.text(), wanted.key.permits());
  std::optional<KnownClaim> replaced;
  if (wanted.replaces_another()) {
    const ClaimKey old = wanted.replaced_key();
    if (const KnownClaim* const known = known_.find(old)) {
      replaced = *known;
    } else if (!known_.is_leaving(old, *session)) {
      auto found = co_await finding(session, old);
      if (call->over()) co_return nobody_waits();
      if (!found.ok()) co_return std::move(found.failure());
      if (found.value()) replaced = std::move(found.value()->claim);
    }
  }
  // Read the line first if there may be a reason not to join. (A claim of ours in the line has the same total.)
  const bool may_differ = wanted.key.permits() && !known_.has_permits_in(path, wanted.mode.limit);
  if (wanted.when_busy == spi::WhenBusy::refuse || may_differ) {
    auto refused = co_await peeking(call, session, wanted, replaced.has_value());
    if (call->over()) co_return nobody_waits();
    if (!refused.ok()) co_return std::move(refused.failure());
    if (refused.value()) co_return *std::move(refused.value());
  }
  for (int attempt = 0; attempt < attempts && !call->over(); ++attempt) {
    call->is_in_doubt();
    known_.doubt(wanted.key);
    const base::Future<Joined> making = base::started(making_node(session, path, wanted, replaced));
    // Later requests may be sent now, unless this one may need another step.
    if (!replaced && wanted.when_busy == spi::WhenBusy::wait && can_be_followed(path)) place.leave();
    Joined& joined = co_await making;
    const Reply& created = joined.created;
    if (created.outcome == Outcome::no_node) {
      known_.forget(wanted.key);
      if (replaced) {  // it may have been removed meanwhile
        auto found = co_await finding(session, wanted.replaced_key());
        if (!found.ok()) co_return std::move(found.failure());
        replaced = found.value() ? std::optional(std::move(found.value()->claim)) : std::nullopt;
      }
      const Reply made = co_await sessions_.make_path(session, path, Session::Lasting::container);
      if (made.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
      if (!made.ok()) co_return explain(made, false);
      continue;
    }
    if (!created.ok()) {
      if (created.outcome != Outcome::lost) known_.forget(wanted.key);
      co_return explain(created, true);
    }
    if (replaced) known_.forget(wanted.replaced_key());
    known_.note(wanted.key, {.session = session,
                             .line = path,
                             .node = last_part(created.text),
                             .number = replaced ? created.stat.data_changed : created.stat.created,
                             .mode = wanted.mode,
                             .waiting = true});
    auto answer = co_await settling(session, wanted, std::move(joined.snapshot));
    co_return answer;
  }
  co_return explain({.outcome = Outcome::no_node}, true);
}

/// Reads the line before joining, so that a try that is refused writes nothing (except that what it replaces is
/// withdrawn). Empty if there is no reason to refuse.
Operation<std::optional<ClaimAnswer>> NodeClaims::peeking(CallPtr call, SessionPtr session, const Wanted& wanted,
                                                          bool replaces) {
  const std::string path = nodes_.line_of(wanted.key.name.text(), wanted.key.permits());
  LineSnapshot snapshot = co_await reading_line(session, path, wanted.key.permits(), Freshness::newest);
  if (call->over()) co_return nobody_waits();
  if (!snapshot.ok()) co_return explain(snapshot.reply, false);
  if (replaces) snapshot.line = snapshot.line.without(guid_of(*wanted.replaces));
  const bool other_total = wanted.key.permits() && !snapshot.line.empty() && snapshot.line.total() != wanted.mode.limit;
  const bool busy = wanted.when_busy == spi::WhenBusy::refuse && !snapshot.line.admits(wanted.mode);
  if (!other_total && !busy) co_return std::optional<ClaimAnswer>();
  if (replaces) {
    call->is_in_doubt();
    auto left = co_await removing(session, wanted.replaced_key());
    if (!left.ok()) co_return std::move(left.failure());
  }
  if (other_total) co_return different_total(wanted, snapshot.line);
  co_return std::optional(ClaimAnswer{});
}

/// Creates the claim's node and reads its line, unless the node's name shows that the claim is alone there.
base::Coroutine<NodeClaims::Joined> NodeClaims::making_node(SessionPtr session, const std::string& line,
                                                            const Wanted& wanted,
                                                            const std::optional<KnownClaim>& replaced) {
  const auto if_alone = node_if_alone(line, new_node_of(wanted.key.id, wanted.mode), replaced);
  Joined joined;
  const base::Future<Reply> creating = create_node(*session, line, wanted, replaced);
  if (!if_alone) {
    const auto reading = base::started(reading_line(session, line, wanted.key.permits(), Freshness::at_least_ours));
    joined.created = std::move(co_await creating);
    joined.snapshot = std::move(co_await reading);
    co_return joined;
  }
  joined.created = std::move(co_await creating);
  if (!joined.created.ok()) co_return joined;
  if (last_part(joined.created.text) == *if_alone) {
    joined.snapshot = {.outcome = Outcome::ok, .exists = true, .line = Line::from({*if_alone}, std::nullopt)};
    co_return joined;
  }
  joined.snapshot = co_await reading_line(session, line, wanted.key.permits(), Freshness::at_least_ours);
  co_return joined;
}

/// Creates the claim's node, and removes that of the claim it replaces in the same step.
base::Future<Reply> NodeClaims::create_node(Session& session, const std::string& line, const Wanted& wanted,
                                            const std::optional<KnownClaim>& replaced) {
  const std::string path = line + "/" + new_node_of(wanted.key.id, wanted.mode);
  Record record = {.reason = wanted.reason, .lease = session.timeout()};
  if (wanted.client) record.client = *wanted.client;
  if (!replaced) return session.create(path, record.text(), Session::Lasting::ephemeral_sequential);
  std::vector<Part> parts;
  // Of a change with several parts, the library tells the stat of what was set, but not of what was created. All parts
  // have the number of the change: so what goes is set first, and tells us the number of what comes.
  parts.push_back({.kind = Part::Kind::set, .path = replaced->path()});
  parts.push_back({.kind = Part::Kind::remove, .path = replaced->path()});
  if (replaced->was_downgraded()) {
    const std::string mark = mark_of_shared(*wanted.replaces, replaced->sequence());
    parts.push_back({.kind = Part::Kind::remove, .path = replaced->line + "/" + mark});
  }
  parts.push_back({.kind = Part::Kind::create,
                   .path = path,
                   .data = record.text(),
                   .lasting = Session::Lasting::ephemeral_sequential});
  return session.together(parts);
}

/// The claim's node is in the line. Finds out where it stands, and removes it again if it must not stay.
Operation<ClaimAnswer> NodeClaims::settling(SessionPtr session, const Wanted& wanted, LineSnapshot snapshot) {
  std::optional<Failure> failure;
  if (wanted.key.permits() && snapshot.ok() && snapshot.line.total() != wanted.mode.limit) {
    failure = different_total(wanted, snapshot.line);
  } else {
    auto answer = co_await refreshing(wanted.key, std::move(snapshot));
    const bool waits = answer.ok() && answer.value().standing == ClaimAnswer::Standing::waiting;
    if (!waits || wanted.when_busy == spi::WhenBusy::wait) co_return answer;
  }
  auto left = co_await removing(session, wanted.key);
  if (!left.ok()) co_return std::move(left.failure());
  if (failure) co_return *std::move(failure);
  co_return ClaimAnswer{};  // somebody else joined first
}

Failure NodeClaims::different_total(const Wanted& wanted, const Line& line) {
  return kit::different_total({.name = wanted.key.name, .id = wanted.key.id, .mode = wanted.mode}, line.total());
}

/// Whether later requests about this line may be sent before this one is answered. All of them use one connection,
/// whose order the servers keep; and nothing has to be created first, because a node of ours keeps the line's node
/// alive.
bool NodeClaims::can_be_followed(const std::string& line) const {
  return sessions_.is_only_one() && known_.has_any_in(line);
}

}  // namespace holdfast::zookeeper
