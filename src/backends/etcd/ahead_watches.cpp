#include "backends/etcd/ahead_watches.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "backends/etcd/keys.hpp"

namespace holdfast::etcd {
namespace {

/// Longer than the hold of a busy lock, and short enough that idle watches are few.
constexpr base::Duration kept = std::chrono::seconds(2);

}  // namespace

AheadWatches::AheadWatches(spi::Loop& loop, Watches& watches, OnEvent on_event)
    : loop_(loop), watches_(watches), on_event_(std::move(on_event)), timer_(loop, [this] { forget_idle(); }) {}

bool AheadWatches::wait(const ClaimKey& claim, const Wanted& wanted) {
  const std::string range = wanted.key.empty() ? wanted.line : Keys::client_in(wanted.line, wanted.key);
  const auto before = waits_in_.find(claim);
  if (before != waits_in_.end() && before->second == range && ranges_.at(range).waiting.at(claim) == wanted.key) {
    return false;  // since it waits for it, it is told
  }
  stop(claim);
  waits_in_[claim] = range;
  const auto [at, is_new] = ranges_.try_emplace(range);
  Range& its = at->second;
  its.waiting[claim] = wanted.key;
  its.idle_since = base::Instant::max();
  if (is_new) {
    its.watch = watches_.watch(range, Keys::end_of(range), [this, range](Watches::What what, const WatchReply& reply) {
      happened(range, what, reply);
    });
  }
  // As long as it has not begun, everybody looks when it does.
  return its.begun && its.told_after > wanted.seen;
}

void AheadWatches::stop(const ClaimKey& claim) {
  const auto found = waits_in_.find(claim);
  if (found == waits_in_.end()) return;
  Range& range = ranges_.at(found->second);
  waits_in_.erase(found);
  range.waiting.erase(claim);
  if (!range.waiting.empty()) return;
  range.idle_since = loop_.now();
  if (!timer_.armed()) timer_.set(range.idle_since + kept);
}

void AheadWatches::happened(const std::string& range, Watches::What what, const WatchReply& reply) {
  const auto found = ranges_.find(range);
  if (found == ranges_.end()) return;
  Range& its = found->second;
  std::vector<ClaimKey> to_tell;
  if (what == Watches::What::begun) {
    its.begun = true;
    its.told_after = reply.revision;
    for (const auto& [claim, key] : its.waiting) to_tell.push_back(claim);
  } else {
    bool any = false;  // but for new claims, which stand behind
    for (const WatchReply::Event& event : reply.events) {
      its.told_after = std::max(its.told_after, event.revision);
      any = any || !event.created;
    }
    for (const auto& [claim, key] : its.waiting) {
      const bool its_own = std::ranges::find(reply.events, key, &WatchReply::Event::key) != reply.events.end();
      if (key.empty() ? any : its_own) to_tell.push_back(claim);
    }
  }
  for (const ClaimKey& claim : to_tell) on_event_(claim);
}

void AheadWatches::forget_idle() {
  const base::Instant now = loop_.now();
  base::Instant next = base::Instant::max();
  std::erase_if(ranges_, [&](const auto& each) {
    const Range& range = each.second;
    if (range.idle_since == base::Instant::max()) return false;
    if (now - range.idle_since >= kept) {
      watches_.unwatch(range.watch);
      return true;
    }
    next = std::min(next, range.idle_since + kept);
    return false;
  });
  timer_.set(next);
}

void AheadWatches::close() { timer_.cancel(); }

}  // namespace holdfast::etcd
