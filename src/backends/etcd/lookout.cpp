#include "backends/etcd/lookout.hpp"

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

/// Most claims are gone before it would pay to watch them.
constexpr Duration lasting = std::chrono::milliseconds(100);

}  // namespace

Lookout::Lookout(const spi::BackendContext& context, Link& link, Watches& watches, Leases& leases, const Keys& keys)
    : loop_(context.loop),
      events_(context.events),
      link_(link),
      watches_(watches),
      leases_(leases),
      keys_(keys),
      ahead_(context.loop, watches, [this](const ClaimKey& claim) { look(claim); }),
      timer_(context.loop, [this] { watch_lasting_claims(); }) {}

const KnownClaim* Lookout::find(const ClaimKey& claim) const {
  const auto found = claims_.find(claim);
  return found == claims_.end() ? nullptr : &found->second;
}

Sight Lookout::sight_of(const ClaimKey& claim, const KnownClaim& known) const {
  return {.line = keys_.line(claim.name.text(), claim.kind),
          .key = known.key,
          .mode = known.mode,
          .create_revision = known.create_revision,
          .granted = known.granted,
          .place = known.place};
}

// --- what the core is told when it asks -----------------------------------------------------------------------------

ClaimAnswer Lookout::found(const ClaimKey& claim, Standing standing, ClaimMode mode, Instant armed) {
  // Another read may have been quicker. Whoever is granted stays so until it goes.
  const KnownClaim* const before = find(claim);
  const bool same = before != nullptr && before->create_revision == standing.claim.create_revision;
  standing.granted = standing.granted || (same && before->granted);
  note(claim, standing, mode);
  KnownClaim& known = claims_.at(claim);
  ClaimAnswer answer = describe(known, standing);
  answer.armed_at = armed;
  known.granted = standing.granted;
  known.told_of_wish = known.told_of_wish || answer.asked_to_release.has_value();
  return answer;
}

ClaimAnswer Lookout::describe(KnownClaim& known, const Standing& standing) {
  const Line::Claim& claim = standing.claim;
  ClaimAnswer answer;
  answer.number = static_cast<std::uint64_t>(claim.create_revision);
  const LeasePtr lease = leases_.find(claim.lease);
  answer.lease = lease ? lease->length : claim.record.lease;
  if (standing.granted) {
    answer.standing = ClaimAnswer::Standing::granted;
    if (const auto& asked = claim.record.asked_to_release) {
      // Clocks differ, so its time runs from when we first saw it.
      const auto passed = std::chrono::floor<milliseconds>(loop_.now() - known.asked_since);
      answer.asked_to_release = ReleaseRequest{asked->reason, std::max(asked->within - passed, milliseconds::zero())};
    }
    return answer;
  }
  answer.standing = ClaimAnswer::Standing::waiting;
  answer.place = standing.place;
  answer.check_after = standing.check_after;  // the server tells when it ends; this is for when it does not
  return answer;
}

void Lookout::note(const ClaimKey& claim, const Standing& standing, ClaimMode mode) {
  const Line::Claim& now = standing.claim;
  auto at = claims_.find(claim);
  if (at != claims_.end() && at->second.create_revision != now.create_revision) {
    forget(claim);  // a second life
    at = claims_.end();
  }
  if (at == claims_.end()) {
    at = claims_.try_emplace(claim).first;
    KnownClaim& fresh = at->second;
    fresh.mode = mode;
    fresh.permits = now.record.mode.permits;
    fresh.key = now.key;
    fresh.create_revision = now.create_revision;
    if (claim.kind == LockKind::semaphore) rooms_.has_come(claim.name);
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
    known.told_of_wish = false;
  }
  standing.granted ? ahead_.stop(claim) : wait_for(claim, standing);
}

void Lookout::ignore(const ClaimKey& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end()) return;
  KnownClaim& known = found->second;
  known.leaving = true;
  ahead_.stop(claim);
  if (known.own_watch != 0) watches_.unwatch(std::exchange(known.own_watch, 0));
}

void Lookout::forget(const ClaimKey& claim) {
  ignore(claim);
  const auto node = claims_.extract(claim);
  if (node.empty()) return;
  const KnownClaim& known = node.mapped();
  if (known.lease != 0) leases_.is_unused(known.lease);
  if (claim.kind == LockKind::semaphore) rooms_.has_gone(claim.name);
}

// --- watching -------------------------------------------------------------------------------------------------------

void Lookout::wait_for(const ClaimKey& claim, const Standing& standing) {
  const AheadWatches::Wanted wanted = {.line = keys_.line(claim.name.text(), claim.kind),
                                       .key = standing.ahead ? standing.ahead->key : std::string(),
                                       .seen = standing.revision};
  if (ahead_.wait(claim, wanted)) look(claim);
}

void Lookout::watch_lasting_claims() {
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

void Lookout::look(const ClaimKey& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end() || found->second.leaving) return;
  if (std::exchange(found->second.looking, true)) {
    found->second.look_again = true;
    return;
  }
  looking(claim).start([](const spi::Result<Nothing>&) {});
}

Operation<Nothing> Lookout::looking(ClaimKey claim) {
  for (;;) {
    auto at = claims_.find(claim);
    if (at == claims_.end()) co_return Nothing{};
    at->second.look_again = false;
    const std::int64_t life = at->second.create_revision;
    const Sight sight = sight_of(claim, at->second);
    Transaction read;
    sight.add_to(read.then);
    auto reply = co_await transacting(link_, std::move(read), loop_.now() + spi::longest_patience);
    at = claims_.find(claim);
    if (at == claims_.end() || at->second.create_revision != life || at->second.leaving) co_return Nothing{};
    if (!reply.ok()) {  // the core asks from time to time in any case
      at->second.looking = false;
      co_return Nothing{};
    }
    looked(claim, sight.in(reply.value().outcomes, reply.value().revision));
    at = claims_.find(claim);
    if (at == claims_.end() || at->second.create_revision != life) co_return Nothing{};
    if (!at->second.look_again) {
      at->second.looking = false;
      co_return Nothing{};
    }
  }
}

void Lookout::looked(const ClaimKey& claim, const std::optional<Standing>& standing) {
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
  if (answer.asked_to_release && !std::exchange(known.told_of_wish, true))
    events_.check(claim.name, claim.kind, claim.id);
}

void Lookout::close() {
  timer_.cancel();
  ahead_.close();
  to_watch_.clear();
  for (auto& [claim, known] : claims_) known.looking = true;  // nothing is looked at any more
}

}  // namespace holdfast::etcd
