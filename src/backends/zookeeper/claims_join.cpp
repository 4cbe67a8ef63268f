// Joining a line.

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "backends/zookeeper/claims.hpp"
#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/ready.hpp"
#include "backends/zookeeper/record.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::Result;
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
  run_acquire(make_call(calls_, spi::patience(request.lease), std::move(done)),
              {.key = {request.id, request.name, request.kind()},
               .mode = request.mode,
               .lease = request.lease,
               .when_busy = request.when_busy,
               .replaces = request.replaces,
               .client = request.client,
               .reason = request.reason});
}

Detached NodeClaims::run_acquire(AcquireCall call, Wish wish) {
  const SessionPtr session = sessions_.for_lease(wish.lease);
  kit::RequestOrder::Place place = names_.enter(wish.key.name.text());
  co_await place;
  const kit::RequestOrder::Place own = claims_.enter(wish.key.queue_name());
  co_await own;
  if (call->over()) co_return;
  const Flow<bool> preparing = is_ready(session, call);
  const bool ready = co_await preparing;
  if (!ready) co_return;
  if (session->timeout() < wish.lease) {
    call->answer(too_long(sessions_.address(), wish.lease, session->timeout()));
    co_return;
  }
  if (known_.find(wish.key) != nullptr || known_.is_doubtful(wish.key)) {
    const Flow<std::optional<Standing>> finding = find_again(call, session, wish);
    std::optional<Standing> found = co_await finding;
    if (call->over()) co_return;
    if (found) {
      call->answer(*std::move(found));
      co_return;
    }
  }
  const Flow<Standing> joining = join(call, session, wish, place);
  Standing standing = co_await joining;
  call->answer(std::move(standing));
}

Flow<NodeClaims::Standing> NodeClaims::join(AcquireCall call, SessionPtr session, Wish wish,
                                            kit::RequestOrder::Place& place) {
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.permits());
  std::optional<KnownClaim> replaced;
  if (wish.replaces_another()) {
    const ClaimKey old = {*wish.replaces, wish.key.name, wish.key.kind};
    if (const KnownClaim* const known = known_.find(old)) {
      replaced = *known;
    } else if (!known_.is_leaving(old, *session)) {
      const Flow<Result<std::optional<FoundClaim>>> finding = find(session, old);
      Result<std::optional<FoundClaim>> found = co_await finding;
      if (call->over()) co_return ClaimAnswer{};
      if (!found.ok()) co_return found.failure();
      if (found.value()) replaced = std::move(found.value()->claim);
    }
  }
  // Where there may be a reason not to join. (A claim of ours in the line shows that its total is the same.)
  const bool may_differ = wish.permits() && !known_.has_permits_in(path, wish.mode.limit);
  if (wish.when_busy == spi::WhenBusy::refuse || may_differ) {
    const Flow<std::optional<Standing>> looking = look_before(call, session, wish, replaced.has_value());
    std::optional<Standing> refused = co_await looking;
    if (call->over()) co_return ClaimAnswer{};
    if (refused) co_return *std::move(refused);
  }
  for (int attempt = 0; attempt < attempts && !call->over(); ++attempt) {
    call->is_in_doubt();
    known_.doubt(wish.key);
    const Flow<Joined> making_node = make_node(session, path, wish, replaced);
    // If it replaces or refuses, there may be more to do.
    if (!replaced && wish.when_busy == spi::WhenBusy::wait && can_be_followed(path)) place.leave();
    Joined joined = co_await making_node;
    const Reply& created = joined.created;
    if (created.outcome == Outcome::no_node) {
      known_.forget(wish.key);
      if (replaced) {  // it may have gone meanwhile
        const Flow<Result<std::optional<FoundClaim>>> finding =
            find(session, {*wish.replaces, wish.key.name, wish.key.kind});
        Result<std::optional<FoundClaim>> found = co_await finding;
        if (!found.ok()) co_return found.failure();
        replaced = found.value() ? std::optional(std::move(found.value()->claim)) : std::nullopt;
      }
      const Flow<Reply> making = sessions_.make_path(session, path, Session::Lasting::container);
      const Reply made = co_await making;
      if (made.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
      if (!made.ok()) co_return explain(made, false);
      continue;
    }
    if (!created.ok()) {
      if (created.outcome != Outcome::lost) known_.forget(wish.key);
      co_return explain(created, true);
    }
    if (replaced) known_.forget({*wish.replaces, wish.key.name, wish.key.kind});
    known_.note(wish.key, {.session = session,
                           .line = path,
                           .node = last_part(created.text),
                           .number = replaced ? created.stat.data_changed : created.stat.created,
                           .mode = wish.mode,
                           .waiting = true});
    const Flow<Standing> settling = settle(session, wish, std::move(joined.seen));
    Standing standing = co_await settling;
    co_return standing;
  }
  co_return explain({.outcome = Outcome::no_node}, true);
}

/// A try that is refused writes nothing, except that what it replaces goes. Empty if there is no reason to refuse.
Flow<std::optional<NodeClaims::Standing>> NodeClaims::look_before(AcquireCall call, SessionPtr session, Wish wish,
                                                                  bool replaces) {
  const std::string path = nodes_.line_of(wish.key.name.text(), wish.permits());
  const Flow<SeenLine> seeing = see(session, path, wish.permits(), Freshness::newest);
  SeenLine seen = co_await seeing;
  if (call->over()) co_return std::nullopt;
  if (!seen.ok()) co_return Standing(explain(seen.reply, false));
  if (replaces) seen.line = seen.line.without(guid_of(*wish.replaces));
  const bool other_total = wish.permits() && !seen.line.empty() && seen.line.total() != wish.mode.limit;
  const bool busy = wish.when_busy == spi::WhenBusy::refuse && !seen.line.admits(wish.mode);
  if (!other_total && !busy) co_return std::nullopt;
  if (replaces) {
    call->is_in_doubt();
    const Flow<Result<bool>> leaving = leave(session, {*wish.replaces, wish.key.name, wish.key.kind});
    Result<bool> left = co_await leaving;
    if (!left.ok()) co_return Standing(left.failure());
  }
  if (other_total) co_return Standing(different_total(wish, seen.line));
  co_return Standing(ClaimAnswer{});
}

/// Makes the claim's node and reads its line, which it need not do if the node's name shows that nobody else is there.
Flow<NodeClaims::Joined> NodeClaims::make_node(SessionPtr session, std::string line, Wish wish,
                                               std::optional<KnownClaim> replaced) {
  const auto if_alone = node_if_alone(line, new_node_of(wish.key.id, wish.mode), replaced);
  Joined joined;
  const Sent creating = create_node(*session, line, wish, replaced);
  if (!if_alone) {
    const Flow<SeenLine> seeing = see(session, line, wish.permits(), Freshness::at_least_ours);
    joined.created = std::move(co_await creating);
    joined.seen = co_await seeing;
    co_return joined;
  }
  joined.created = std::move(co_await creating);
  if (!joined.created.ok()) co_return joined;
  if (last_part(joined.created.text) == *if_alone) {
    joined.seen = {.outcome = Outcome::ok, .exists = true, .line = Line::from({*if_alone}, std::nullopt)};
    co_return joined;
  }
  const Flow<SeenLine> seeing = see(session, line, wish.permits(), Freshness::at_least_ours);
  joined.seen = co_await seeing;
  co_return joined;
}

/// Makes the claim's node, and removes that of the claim it replaces in the same step.
Sent NodeClaims::create_node(Session& session, const std::string& line, const Wish& wish,
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
Flow<NodeClaims::Standing> NodeClaims::settle(SessionPtr session, Wish wish, SeenLine seen) {
  std::optional<Standing> standing;
  if (wish.permits() && seen.ok() && seen.line.total() != wish.mode.limit) {
    standing = different_total(wish, seen.line);
  } else {
    const Flow<Standing> finding = stand(wish.key, std::move(seen));
    standing = co_await finding;
    const bool waits = standing->ok() && standing->value().standing == ClaimAnswer::Standing::waiting;
    if (!waits || wish.when_busy == spi::WhenBusy::wait) co_return *std::move(standing);
    standing = ClaimAnswer{};  // somebody else was quicker
  }
  const Flow<Result<bool>> leaving = leave(session, wish.key);
  Result<bool> left = co_await leaving;
  if (!left.ok()) co_return left.failure();
  co_return *std::move(standing);
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
