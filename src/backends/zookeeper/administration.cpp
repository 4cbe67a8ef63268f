#include "backends/zookeeper/administration.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "backends/zookeeper/failures.hpp"
#include "backends/zookeeper/record.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::zookeeper {

using spi::Done;
using spi::Operation;
using spi::Result;
using std::chrono::system_clock;

namespace {

/// Saturates, so that no server can make the time overflow.
system_clock::time_point instant_of(std::int64_t since_1970) {
  using std::chrono::milliseconds;
  constexpr std::int64_t most = std::chrono::duration_cast<milliseconds>(system_clock::duration::max()).count();
  return system_clock::time_point(milliseconds(std::clamp(since_1970, -most, most)));
}

/// What is left of a lease whose session was alive at `heard` (milliseconds since 1970) or later. It is counted by this
/// host's clock, because the servers tell theirs to writers only; if the result makes no sense, the clocks differ, and
/// the whole lease may be left.
std::chrono::milliseconds left_of(std::chrono::milliseconds lease, std::int64_t heard) {
  using std::chrono::milliseconds;
  const std::int64_t now = std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  if (lease <= milliseconds::zero() || heard < 0 || heard > now) return lease;
  const milliseconds elapsed(now - heard);
  if (elapsed / 2 > lease) return lease;
  return std::max(lease - elapsed, milliseconds::zero());
}

/// `heartbeat`: the node that its session writes to, if it exists.
ClaimStatus status_from(const Entry& entry, const Reply& node, const Reply& heartbeat, bool granted) {
  Record record = Record::from(node.text);
  const std::int64_t heard = std::max(node.stat.created_at, heartbeat.ok() ? heartbeat.stat.changed_at : 0);
  return {.client = std::move(record.client),
          .mode = entry.mode.kind,
          .permits = entry.mode.kind == ClaimMode::permits ? entry.mode.permits : 1,
          .number = granted ? node.stat.created : 0,
          .reason = std::move(record.reason),
          .since = instant_of(node.stat.created_at),
          .lease_left = left_of(record.lease, heard)};
}

}  // namespace

spi::Failure NodeAdministration::explain(const Reply& reply, bool doubtful) const {
  return zookeeper::explain(reply, sessions_.address(), doubtful);
}

// --- looking --------------------------------------------------------------------------------------------------------

void NodeAdministration::show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) {
  calls_.start(spi::longest_patience, std::move(done),
               [&](CallPtr call) { return showing(std::move(call), {name.text(), kind == LockKind::semaphore}); });
}

Operation<std::optional<LockStatus>> NodeAdministration::showing(CallPtr call, Which which) {
  const kit::RequestOrder::Place place = order_by_name_.enter(which.name);
  co_await place;
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  auto status = co_await looking_at(session, std::move(which), Freshness::newest);
  co_return status;
}

Operation<std::optional<LockStatus>> NodeAdministration::looking_at(SessionPtr session, Which which,
                                                                    Freshness freshness) {
  const std::string path = path_of(which);
  const LineSnapshot snapshot = co_await reading_line(session, path, which.permits, freshness);
  if (!snapshot.ok()) co_return explain(snapshot.reply, false);
  std::deque<base::Future<Reply>> asked;
  for (const Entry& entry : snapshot.line.entries()) asked.push_back(session->get(path + "/" + entry.node));
  std::map<std::int64_t, base::Future<Reply>> heartbeats;  // by session
  std::optional<spi::Failure> failure;
  for (const base::Future<Reply>& each : asked) {
    const Reply& node = co_await each;
    if (!node.ok() && node.outcome != Outcome::no_node) failure = explain(node, false);
    const std::int64_t owner = node.stat.owner;
    if (node.ok() && !heartbeats.contains(owner)) heartbeats.emplace(owner, session->exists(sessions_.node_of(owner)));
  }
  if (failure) co_return *std::move(failure);
  LockStatus status;
  status.name = which.name;
  status.kind = which.permits ? LockKind::semaphore : LockKind::lock;
  status.total = which.permits ? snapshot.line.total() : 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Reply& node = co_await asked[i];
    if (!node.ok()) continue;  // it was removed meanwhile
    const Reply& heartbeat = co_await heartbeats.at(node.stat.owner);
    const bool granted = snapshot.line.is_granted(i);
    auto& claims = granted ? status.holders : status.waiters;
    claims.push_back(status_from(snapshot.line.entries()[i], node, heartbeat, granted));
    if (granted) status.number = std::max(status.number, node.stat.created);
  }
  if (status.holders.empty() && status.waiters.empty()) co_return std::optional<LockStatus>();
  co_return std::optional<LockStatus>(std::move(status));
}

void NodeAdministration::list(std::string_view prefix, Done<std::vector<LockStatus>> done) {
  calls_.start(spi::longest_patience, std::move(done),
               [&](CallPtr call) { return listing(std::move(call), std::string(prefix)); });
}

Operation<std::vector<LockStatus>> NodeAdministration::listing(CallPtr call, std::string prefix) {
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  static_cast<void>(session->sync(sessions_.nodes().root()));
  const base::Future<Reply> listing_locks = session->children(sessions_.nodes().locks());
  const base::Future<Reply> listing_semaphores = session->children(sessions_.nodes().semaphores());
  std::vector<Which> found;
  for (const bool permits : {false, true}) {
    const base::Future<Reply>& answer = permits ? listing_semaphores : listing_locks;
    const Reply& listed = co_await answer;
    if (call->over()) co_return nobody_waits();
    if (listed.outcome == Outcome::no_node) continue;
    if (!listed.ok()) co_return explain(listed, false);
    for (const std::string& node : listed.children) {
      const auto name = Nodes::decode(node);
      if (name && name->starts_with(prefix)) found.push_back({*name, permits});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Which& a, const Which& b) { return a.name != b.name ? a.name < b.name : a.permits < b.permits; });
  std::deque<base::Future<Result<std::optional<LockStatus>>>> looking;
  for (const Which& which : found) {
    looking.push_back(base::started(looking_at(session, which, Freshness::at_least_ours)));
  }
  std::vector<LockStatus> locks;
  std::optional<spi::Failure> failure;
  for (const auto& each : looking) {
    auto& status = co_await each;
    if (!status.ok()) {
      failure = status.failure();
    } else if (status.value()) {
      locks.push_back(*std::move(status.value()));
    }
  }
  if (failure) co_return *std::move(failure);
  co_return locks;
}

void NodeAdministration::now(Done<system_clock::time_point> done) {
  calls_.start(spi::longest_patience, std::move(done), [&](CallPtr call) { return telling_time(std::move(call)); });
}

/// The leader notes when a node was changed, so a write tells its time.
Operation<system_clock::time_point> NodeAdministration::telling_time(CallPtr call) {
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  const Reply beaten = co_await sessions_.heartbeat(session);
  if (beaten.outcome == Outcome::no_node) co_return no_chroot(sessions_.address());
  if (!beaten.ok()) co_return explain(beaten, false);
  co_return instant_of(beaten.stat.changed_at);
}

// --- changing -------------------------------------------------------------------------------------------------------

void NodeAdministration::evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) {
  calls_.start(spi::longest_patience, std::move(done), [&](CallPtr call) {
    return evicting(std::move(call), {name.text(), kind == LockKind::semaphore}, up_to);
  });
}

Operation<std::size_t> NodeAdministration::evicting(CallPtr call, Which which, std::uint64_t up_to) {
  const kit::RequestOrder::Place place = order_by_name_.enter(which.name);
  co_await place;
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  const std::string path = path_of(which);
  const LineSnapshot snapshot = co_await reading_line(session, path, which.permits, Freshness::newest);
  if (call->over()) co_return nobody_waits();
  if (!snapshot.ok()) co_return explain(snapshot.reply, false);
  std::size_t evicted = 0;
  for (std::size_t i = 0; i < snapshot.line.entries().size() && !call->over(); ++i) {
    if (!snapshot.line.is_granted(i)) continue;
    const Entry& entry = snapshot.line.entries()[i];
    const base::Future<Reply> looking = session->exists(path + "/" + entry.node);
    const Reply& node = co_await looking;
    if (call->over()) co_return nobody_waits();
    if (node.outcome == Outcome::no_node || (node.ok() && node.stat.created > up_to)) continue;
    call->is_in_doubt();
    const base::Future<Reply> removing = session->remove(path + "/" + entry.node);
    const Reply& removed = co_await removing;
    if (!removed.ok() && removed.outcome != Outcome::no_node) co_return explain(removed, true);
    if (removed.ok()) ++evicted;
    if (entry.has_guid && entry.mode.kind == ClaimMode::shared) {
      static_cast<void>(session->remove(path + "/" + entry.mark()));
    }
  }
  co_return evicted;
}

void NodeAdministration::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                                        Done<std::size_t> done) {
  calls_.start(spi::longest_patience, std::move(done), [&](CallPtr call) {
    return asking_to_release(std::move(call), {name.text(), kind == LockKind::semaphore}, request);
  });
}

Operation<std::size_t> NodeAdministration::asking_to_release(CallPtr call, Which which, ReleaseRequest request) {
  const kit::RequestOrder::Place place = order_by_name_.enter(which.name);
  co_await place;
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  const std::string path = path_of(which);
  const LineSnapshot snapshot = co_await reading_line(session, path, which.permits, Freshness::newest);
  if (call->over()) co_return nobody_waits();
  if (!snapshot.ok()) co_return explain(snapshot.reply, false);
  call->is_in_doubt();
  std::deque<base::Future<Result<bool>>> telling;
  for (std::size_t i = 0; i < snapshot.line.entries().size(); ++i) {
    if (!snapshot.line.is_granted(i)) continue;
    telling.push_back(
        base::started(asking_one_to_release(session, path + "/" + snapshot.line.entries()[i].node, request)));
  }
  std::size_t asked = 0;
  std::optional<spi::Failure> failure;
  for (const auto& each : telling) {
    const auto& told = co_await each;
    if (!told.ok()) {
      failure = told.failure();
    } else if (told.value()) {
      ++asked;
    }
  }
  if (failure) co_return *std::move(failure);
  co_return asked;
}

/// Tells the holder with this node. False if the node has been removed.
Operation<bool> NodeAdministration::asking_one_to_release(SessionPtr session, std::string path,
                                                          ReleaseRequest request) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const base::Future<Reply> reading = session->get(path);
    const Reply& node = co_await reading;
    if (node.outcome == Outcome::no_node) co_return false;
    if (!node.ok()) co_return explain(node, true);
    std::string data(revoke_message);
    if (Record::is_ours(node.text)) {
      Record record = Record::from(node.text);
      record.asked = request;
      data = record.text();
    }
    const base::Future<Reply> writing = session->set(path, data, node.stat.version);
    const Reply& written = co_await writing;
    if (written.ok()) co_return true;
    if (written.outcome == Outcome::no_node) co_return false;
    if (written.outcome != Outcome::other_version) co_return explain(written, true);
  }
  co_return spi::Failure{Errc::unreachable,
                         sessions_.address().shown() + " changes " + path + " faster than it can be read; try again"};
}

void NodeAdministration::resize(const LockName& name, std::uint32_t total, Done<bool> done) {
  if (auto failure = kit::why_invalid_total(name, total)) {
    return kit::answer_soon(calls_.loop(), std::move(done), *std::move(failure));
  }
  calls_.start(spi::longest_patience, std::move(done),
               [&](CallPtr call) { return resizing(std::move(call), {name.text(), true}, total); });
}

Operation<bool> NodeAdministration::resizing(CallPtr call, Which which, std::uint32_t total) {
  const kit::RequestOrder::Place place = order_by_name_.enter(which.name);
  co_await place;
  const SessionPtr session = sessions_.any();
  const auto up = co_await until_up(session, call);
  if (!up.ok()) co_return up.failure();
  const std::string path = path_of(which);
  SemaphoreData data = {.total = total};
  LineSnapshot snapshot;
  while (!call->over()) {
    snapshot = co_await reading_line(session, path, true, Freshness::newest);
    if (call->over()) co_return nobody_waits();
    if (!snapshot.ok()) co_return explain(snapshot.reply, call->doubtful());
    if (snapshot.line.empty()) co_return call->doubtful();
    // Whoever joined between our read and our write has not seen the new total; then everything is done once more.
    const auto missed = [&](const Entry& entry) { return entry.sequence >= data.before && entry.mode.limit != total; };
    if (call->doubtful() && std::none_of(snapshot.line.entries().begin(), snapshot.line.entries().end(), missed)) break;
    for (std::size_t i = 0; i < snapshot.line.entries().size(); ++i) {
      if (snapshot.line.is_granted(i)) data.kept = std::max(data.kept, snapshot.line.entries()[i].sequence);
    }
    data.before = snapshot.stat.children_ever;
    call->is_in_doubt();
    const Reply written = co_await session->set(path, data.text());
    if (!written.ok()) co_return explain(written, true);
  }
  // Waiters that want more permits than there are now can never be granted.
  std::deque<base::Future<Reply>> removing;
  for (std::size_t i = 0; i < snapshot.line.entries().size(); ++i) {
    const Entry& entry = snapshot.line.entries()[i];
    if (!snapshot.line.is_granted(i) && entry.mode.permits > total) {
      removing.push_back(session->remove(path + "/" + entry.node));
    }
  }
  for (const base::Future<Reply>& each : removing) co_await each;
  co_return true;
}

}  // namespace holdfast::zookeeper
