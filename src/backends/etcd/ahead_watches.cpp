#include "backends/etcd/ahead_watches.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "backends/etcd/keys.hpp"

namespace holdfast::etcd {
namespace {

/// Longer than a busy lock is held, and short enough to leave few idle watches.
constexpr base::Duration kept = std::chrono::seconds(2);

}  // namespace

AheadWatches::AheadWatches(spi::Loop& loop, Watches& watches, OnEvent on_event)
    : loop_(loop), watches_(watches), on_event_(std::move(on_event)), timer_(loop, [this] { forget_idle(); }) {}

bool AheadWatches::wait(const ClaimKey& claim, const Target& target) {
  const std::string prefix = target.key.empty() ? target.line : Keys::client_in(target.line, target.key);
  const auto before = waits_in_.find(claim);
  if (before != waits_in_.end() && before->second == prefix && watched_.at(prefix).waiting.at(claim) == target.key) {
    return false;  // it has waited for this since before, so it is told
  }
  stop(claim);
  waits_in_[claim] = prefix;
  const auto [at, is_new] = watched_.try_emplace(prefix);
  WatchedKeys& keys = at->second;
  keys.waiting[claim] = target.key;
  keys.idle_since = base::Instant::max();
  if (is_new) {
    keys.watch =
        watches_.watch(prefix, Keys::end_of(prefix),
                       [this, prefix](Watches::What what, const WatchReply& reply) { happened(prefix, what, reply); });
  }
  // All who wait look when the watch begins.
  return keys.begun && keys.told_after > target.seen;
}

void AheadWatches::stop(const ClaimKey& claim) {
  const auto found = waits_in_.find(claim);
  if (found == waits_in_.end()) return;
  WatchedKeys& keys = watched_.at(found->second);
  waits_in_.erase(found);
  keys.waiting.erase(claim);
  if (!keys.waiting.empty()) return;
  keys.idle_since = loop_.now();
  if (!timer_.armed()) timer_.set(keys.idle_since + kept);
}

void AheadWatches::happened(const std::string& prefix, Watches::What what, const WatchReply& reply) {
  const auto found = watched_.find(prefix);
  if (found == watched_.end()) return;
  WatchedKeys& keys = found->second;
  std::vector<ClaimKey> to_tell;
  if (what == Watches::What::begun) {
    keys.begun = true;
    keys.told_after = reply.revision;
    for (const auto& [claim, key] : keys.waiting) to_tell.push_back(claim);
  } else {
    bool any = false;  // new claims do not count, because they stand behind those that wait
    for (const WatchReply::Event& event : reply.events) {
      keys.told_after = std::max(keys.told_after, event.revision);
      any = any || !event.created;
    }
    for (const auto& [claim, key] : keys.waiting) {
      const bool its_own = std::ranges::find(reply.events, key, &WatchReply::Event::key) != reply.events.end();
      if (key.empty() ? any : its_own) to_tell.push_back(claim);
    }
  }
  for (const ClaimKey& claim : to_tell) on_event_(claim);
}

void AheadWatches::forget_idle() {
  const base::Instant now = loop_.now();
  base::Instant next = base::Instant::max();
  std::erase_if(watched_, [&](const auto& each) {
    const WatchedKeys& keys = each.second;
    if (keys.idle_since == base::Instant::max()) return false;
    if (now - keys.idle_since >= kept) {
      watches_.unwatch(keys.watch);
      return true;
    }
    next = std::min(next, keys.idle_since + kept);
    return false;
  });
  timer_.set(next);
}

void AheadWatches::close() { timer_.cancel(); }

}  // namespace holdfast::etcd
