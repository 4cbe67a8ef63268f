#include "backends/etcd/claim_tracker.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::etcd {

using base::Duration;
using base::Instant;
using spi::ClaimAnswer;
using spi::Done;
using spi::milliseconds;
using spi::Nothing;
using spi::Operation;

namespace {

/// Most claims have gone by then, so watching their keys would cost more than it brings.
constexpr Duration lasting = std::chrono::milliseconds(100);

}  // namespace

ClaimTracker::ClaimTracker(const spi::BackendContext& context, ServerCalls& calls, Watches& watches, Leases& leases,
                           const Keys& keys)
    : loop_(context.loop),
      events_(context.events),
      calls_(calls),
      watches_(watches),
      leases_(leases),
      keys_(keys),
      ahead_(context.loop, watches, [this](const ClaimKey& claim) { look(claim); }),
      timer_(context.loop, [this] { watch_lasting_claims(); }) {}

const KnownClaim* ClaimTracker::find(const ClaimKey& claim) const {
  const auto found = claims_.find(claim);
  return found == claims_.end() ? nullptr : &found->second;
}

StandingQuery ClaimTracker::query_for(const ClaimKey& claim, const KnownClaim& known) const {
  return {.line = keys_.line(claim.name.text(), claim.kind),
          .key = known.key,
          .mode = known.mode,
          .create_revision = known.create_revision,
          .granted = known.granted,
          .place = known.place};
}

// --- what the core is answered -----------------------------------------------------------------------------

ClaimAnswer ClaimTracker::found(const ClaimKey& claim, LineStanding standing, ClaimMode mode, Instant armed) {
  // A read that was sent later may have been answered earlier. A granted claim stays granted until it goes.
  const KnownClaim* const before = find(claim);
  const bool same = before != nullptr && before->create_revision == standing.claim.create_revision;
  standing.granted = standing.granted || (same && before->granted);
  note(claim, standing, mode);
  KnownClaim& known = claims_.at(claim);
  ClaimAnswer answer = describe(known, standing);
  answer.armed_at = armed;
  known.granted = standing.granted;
  known.told_of_release_request = known.told_of_release_request || answer.asked_to_release.has_value();
  return answer;
}

ClaimAnswer ClaimTracker::describe(KnownClaim& known, const LineStanding& standing) {
  const Line::Claim& claim = standing.claim;
  ClaimAnswer answer;
  answer.number = static_cast<std::uint64_t>(claim.create_revision);
  const LeasePtr lease = leases_.find(claim.lease);
  answer.lease = lease ? lease->length : claim.record.lease;
  if (standing.granted) {
    answer.standing = ClaimAnswer::Standing::granted;
    if (const auto& asked = claim.record.asked_to_release) {
      // Clocks differ, so the time that the holder is given begins when this client first sees the request.
      const auto passed = std::chrono::floor<milliseconds>(loop_.now() - known.asked_since);
      answer.asked_to_release = ReleaseRequest{asked->reason, std::max(asked->within - passed, milliseconds::zero())};
    }
    return answer;
  }
  answer.standing = ClaimAnswer::Standing::waiting;
  answer.place = standing.place;
  answer.check_after = standing.check_after;  // the server tells when that ends; this is for the case that it does not
  return answer;
}

void ClaimTracker::note(const ClaimKey& claim, const LineStanding& standing, ClaimMode mode) {
  const Line::Claim& now = standing.claim;
  auto at = claims_.find(claim);
  if (at != claims_.end() && at->second.create_revision != now.create_revision) {
    forget(claim);  // its id is used for a second time
    at = claims_.end();
  }
  if (at == claims_.end()) {
    at = claims_.try_emplace(claim).first;
    KnownClaim& fresh = at->second;
    fresh.mode = mode;
    fresh.permits = now.record.mode.permits;
    fresh.key = now.key;
    fresh.create_revision = now.create_revision;
    if (claim.permits()) semaphores_.has_joined(claim.name);
    to_watch_.emplace_back(loop_.now() + lasting, claim);
    if (!timer_.armed()) timer_.set(to_watch_.front().first);
  }
  KnownClaim& known = at->second;
  known.place = standing.place;
  if (known.lease != now.lease) {
    const std::int64_t before = std::exchange(known.lease, now.lease);
    leases_.is_used(now.lease);
    if (before != 0) leases_.is_unused(before);
  }
  if (now.record.asked_to_release && known.asked_at != now.mod_revision) {
    known.asked_at = now.mod_revision;
    known.asked_since = loop_.now();
    known.told_of_release_request = false;
  }
  if (standing.granted) {
    ahead_.stop(claim);
  } else {
    wait_for(claim, standing);
  }
}

void ClaimTracker::ignore(const ClaimKey& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end()) return;
  KnownClaim& known = found->second;
  known.leaving = true;
  ahead_.stop(claim);
  if (known.own_watch != 0) watches_.unwatch(std::exchange(known.own_watch, 0));
}

void ClaimTracker::forget(const ClaimKey& claim) {
  ignore(claim);
  const auto node = claims_.extract(claim);
  if (node.empty()) return;
  const KnownClaim& known = node.mapped();
  if (known.lease != 0) leases_.is_unused(known.lease);
  if (claim.permits()) semaphores_.has_left(claim.name);
}

// --- watching -------------------------------------------------------------------------------------------------------

void ClaimTracker::wait_for(const ClaimKey& claim, const LineStanding& standing) {
  const AheadWatches::Target target = {.line = keys_.line(claim.name.text(), claim.kind),
                                       .key = standing.ahead ? standing.ahead->key : std::string(),
                                       .seen = standing.revision};
  if (ahead_.wait(claim, target)) look(claim);
}

void ClaimTracker::watch_lasting_claims() {
  const Instant now = loop_.now();
  while (!to_watch_.empty() && to_watch_.front().first <= now) {
    const ClaimKey claim = std::move(to_watch_.front().second);
    to_watch_.pop_front();
    const auto found = claims_.find(claim);
    if (found == claims_.end() || found->second.leaving || found->second.own_watch != 0) continue;
    found->second.own_watch =
        watches_.watch(found->second.key, {}, [this, claim](Watches::What, const WatchReply&) { look(claim); });
  }
  if (!to_watch_.empty()) timer_.set(to_watch_.front().first);
}

// --- looking --------------------------------------------------------------------------------------------------------

void ClaimTracker::look(const ClaimKey& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end() || found->second.leaving) return;
  if (std::exchange(found->second.looking, true)) {
    found->second.look_again = true;
    return;
  }
  looking(claim).start([](const spi::Result<Nothing>&) {});
}

Operation<Nothing> ClaimTracker::looking(ClaimKey claim) {
  for (;;) {
    auto at = claims_.find(claim);
    if (at == claims_.end()) co_return Nothing{};
    at->second.look_again = false;
    const std::int64_t life = at->second.create_revision;
    const StandingQuery query = query_for(claim, at->second);
    Transaction read;
    query.add_to(read.then);
    auto reply = co_await transacting(calls_, std::move(read), loop_.now() + spi::longest_patience);
    at = claims_.find(claim);
    if (at == claims_.end() || at->second.create_revision != life || at->second.leaving) co_return Nothing{};
    if (!reply.ok()) {  // the core asks again at the next renewal
      at->second.looking = false;
      co_return Nothing{};
    }
    looked(claim, query.standing_in(reply.value().outcomes, reply.value().revision));
    at = claims_.find(claim);
    if (at == claims_.end() || at->second.create_revision != life) co_return Nothing{};
    if (!at->second.look_again) {
      at->second.looking = false;
      co_return Nothing{};
    }
  }
}

void ClaimTracker::looked(const ClaimKey& claim, const std::optional<LineStanding>& standing) {
  const KnownClaim& before = claims_.at(claim);
  if (!standing || standing->claim.create_revision != before.create_revision) {
    forget(claim);
    return events_.check(claim.name, claim.kind, claim.id);
  }
  if (before.granted && !standing->granted) return;
  note(claim, *standing, before.mode);
  KnownClaim& known = claims_.at(claim);
  const ClaimAnswer answer = describe(known, *standing);
  if (answer.standing != ClaimAnswer::Standing::granted) return;
  if (!std::exchange(known.granted, true)) return events_.granted(claim.name, claim.kind, claim.id, answer);
  if (answer.asked_to_release && !std::exchange(known.told_of_release_request, true)) {
    events_.check(claim.name, claim.kind, claim.id);
  }
}

void ClaimTracker::close() {
  timer_.cancel();
  ahead_.close();
  to_watch_.clear();
  for (auto& [claim, known] : claims_) known.looking = true;  // no further read begins
}

}  // namespace holdfast::etcd
