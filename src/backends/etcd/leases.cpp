#include "backends/etcd/leases.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/etcd/all_answered.hpp"

namespace holdfast::etcd {

using base::Instant;
using spi::Done;
using spi::milliseconds;
using spi::Operation;
using spi::Result;

namespace {

std::int64_t seconds_for(milliseconds length) {
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(length).count());
}

/// A claim that comes under the lease now has most of it left. (The core renews after a third.)
bool is_fresh(const Lease& lease, Instant now) { return now - lease.armed <= base::Duration(lease.length) / 6; }

}  // namespace

LeasePtr Leases::find(std::int64_t lease) const {
  const auto found = leases_.find(lease);
  return found == leases_.end() ? nullptr : found->second;
}

// --- getting a lease ----------------------------------------------------------------------------------------------------

Operation<LeasePtr> Leases::get(milliseconds length, LeaseKind kind, Instant deadline) {
  const std::int64_t seconds = seconds_for(length);
  if (kind == LeaseKind::fixed) {
    auto own = co_await grant(seconds, kind, deadline);
    co_return own;
  }
  if (const auto found = shared_.find(seconds); found != shared_.end()) {
    const LeasePtr shared = found->second;
    if (is_outlived(*shared)) {
      retire(shared->id);
    } else if (is_fresh(*shared, loop_.now())) {
      co_return shared;
    }
  }
  const auto [waiting, is_first] = freshening_.try_emplace(seconds);
  if (!is_first) {
    auto shared = co_await spi::answer_of<LeasePtr>(
        [&](Done<LeasePtr> done) { freshening_.at(seconds).push_back(std::move(done)); });
    co_return shared;
  }
  auto fresh = co_await freshen(seconds, deadline);
  auto others = std::move(freshening_.at(seconds));
  freshening_.erase(seconds);
  for (Done<LeasePtr>& other : others) other(fresh);
  co_return fresh;
}

Operation<LeasePtr> Leases::freshen(std::int64_t seconds, Instant deadline) {
  if (const auto found = shared_.find(seconds); found != shared_.end()) {
    const std::int64_t id = found->second->id;
    auto kept = co_await keep_alive(id, deadline);
    if (!kept.ok()) co_return kept;
    if (kept.value() && !is_outlived(*kept.value())) co_return kept;
    if (kept.value()) retire(id);
  }
  auto granted = co_await grant(seconds, LeaseKind::renewed, deadline);
  if (granted.ok()) shared_[seconds] = granted.value();
  co_return granted;
}

Operation<LeasePtr> Leases::grant(std::int64_t seconds, LeaseKind kind, Instant deadline) {
  const Instant sent = loop_.now();
  const std::uint64_t term = calls_.term();  // the leader before the one that answers may have granted it
  auto reply = co_await spi::answer_of<LeaseReply>(
      [&](Done<LeaseReply> done) { calls_.grant_lease(seconds, deadline, std::move(done)); });
  if (!reply.ok()) co_return std::move(reply.failure());
  if (reply.value().seconds < seconds) co_return not_understood(calls_.address());
  auto lease = std::make_shared<Lease>();
  lease->id = reply.value().id;
  lease->length = std::chrono::seconds(reply.value().seconds);
  lease->armed = sent;
  lease->term = term != 0 ? term : reply.value().term;
  lease->kind = kind;
  lease->is_shared = kind == LeaseKind::renewed;
  leases_[lease->id] = lease;
  co_return lease;
}

// --- keeping leases alive ---------------------------------------------------------------------------------------------------

Operation<LeasePtr> Leases::keep_alive(std::int64_t lease, Instant deadline) {
  auto kept = co_await spi::answer_of<KeptAlive>(
      [&](Done<KeptAlive> done) { keep_alives_.keep_alive(lease, deadline, std::move(done)); });
  if (!kept.ok()) co_return std::move(kept.failure());
  if (kept.value().seconds < 1) {
    is_gone(lease);
    co_return LeasePtr();
  }
  LeasePtr known = find(lease);
  if (!known) {  // another client's
    known = std::make_shared<Lease>();
    known->id = lease;
    known->term = calls_.term();
  }
  known->length = std::chrono::seconds(kept.value().seconds);
  known->armed = std::max(known->armed, kept.value().sent);
  co_return known;
}

void Leases::keep_all_alive(const std::vector<std::int64_t>& leases, Instant deadline,
                            Done<std::map<std::int64_t, LeasePtr>> done) {
  auto all = std::make_shared<AllAnswered<std::map<std::int64_t, LeasePtr>>>(leases.size(), std::move(done));
  for (const std::int64_t lease : leases) {
    keep_alive(lease, deadline).start([all, lease](Result<LeasePtr> kept) {
      if (kept.ok()) all->gathered[lease] = kept.value();
      all->answered(kept);
    });
  }
}

// --- what becomes of leases -------------------------------------------------------------------------------------------

void Leases::is_used(std::int64_t lease) const {
  if (const LeasePtr found = find(lease)) ++found->claims;
}

void Leases::is_unused(std::int64_t lease) {
  const LeasePtr found = find(lease);
  if (!found) return;
  if (found->claims > 0) --found->claims;
  if (found->claims > 0 || found->is_shared || calls_.closed()) return;
  leases_.erase(lease);
  calls_.revoke_lease(lease, loop_.now() + spi::longest_patience, [](const Result<LeaseReply>&) {});
}

void Leases::is_gone(std::int64_t lease) {
  if (const LeasePtr found = find(lease)) found->gone = true;
  leases_.erase(lease);
  std::erase_if(shared_, [&](const auto& each) { return each.second->id == lease; });
}

void Leases::retire(std::int64_t lease) {
  std::erase_if(shared_, [&](const auto& each) { return each.second->id == lease; });
  const LeasePtr found = find(lease);
  if (!found) return;
  found->is_shared = false;
  if (found->claims > 0) return;
  ++found->claims;
  is_unused(lease);
}

std::vector<std::int64_t> Leases::close() {
  keep_alives_.close();
  std::vector<std::int64_t> unused;
  for (const auto& [id, lease] : leases_) {
    if (lease->claims == 0) unused.push_back(id);
  }
  return unused;
}

}  // namespace holdfast::etcd
