#include "backends/etcd/lookout.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::etcd {

using spi::ClaimAnswer;
using spi::Done;
using spi::Duration;
using spi::Instant;
using spi::milliseconds;
using spi::Nothing;
using spi::Operation;
using spi::Turn;

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
      timer_(context.loop, [this] { watch_lasting_claims(); }) {}

const KnownClaim* Lookout::find(const ClaimKey& claim) const {
  const auto found = claims_.find(claim);
  return found == claims_.end() ? nullptr : &found->second;
}

// --- what the core is told when it asks -----------------------------------------------------------------------------

ClaimAnswer Lookout::found(const ClaimKey& claim, const Line& line, std::size_t place, bool permits, Instant armed) {
  note(claim, line, place, permits);
  KnownClaim& known = claims_.at(claim);
  ClaimAnswer answer = describe(known, line, place);
  answer.armed_at = armed;
  known.granted = answer.standing == ClaimAnswer::Standing::granted;
  known.told_of_wish = known.told_of_wish || answer.asked_to_release.has_value();
  return answer;
}

ClaimAnswer Lookout::describe(KnownClaim& known, const Line& line, std::size_t place) {
  const Line::Claim& claim = line[place];
  ClaimAnswer answer;
  answer.number = static_cast<std::uint64_t>(claim.create_revision);
  const LeasePtr lease = leases_.find(claim.lease);
  answer.lease = lease ? lease->length : claim.record.lease;
  if (line.is_granted(place)) {
    answer.standing = ClaimAnswer::Standing::granted;
    if (const auto& asked = claim.record.asked_to_release) {
      // Clocks differ, so its time runs from when we first saw it.
      const auto passed = std::chrono::floor<milliseconds>(loop_.now() - known.asked_since);
      answer.asked_to_release = ReleaseRequest{asked->reason, std::max(asked->within - passed, milliseconds::zero())};
    }
    return answer;
  }
  answer.standing = ClaimAnswer::Standing::waiting;
  answer.place = static_cast<std::uint32_t>(place);
  answer.check_after = line[0].record.lease;  // the server tells when it ends; this is for when it does not
  return answer;
}

void Lookout::note(const ClaimKey& claim, const Line& line, std::size_t place, bool permits) {
  const Line::Claim& now = line[place];
  auto at = claims_.find(claim);
  if (at != claims_.end() && at->second.create_revision != now.create_revision) {
    forget(claim);  // a second life
    at = claims_.end();
  }
  if (at == claims_.end()) {
    at = claims_.try_emplace(claim).first;
    KnownClaim& fresh = at->second;
    fresh.permits = permits;
    fresh.key = now.key;
    fresh.create_revision = now.create_revision;
    fresh.since = loop_.now();
    to_watch_.emplace_back(fresh.since + lasting, claim);
    if (!timer_.armed()) timer_.set(to_watch_.front().first);
  }
  KnownClaim& known = at->second;
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
  const Turn turn = line.turn_of(place);
  turn.kind == Turn::Kind::granted ? stop_waiting(known) : wait_for(claim, known, line, turn);
}

void Lookout::forget(const ClaimKey& claim) {
  auto node = claims_.extract(claim);
  if (node.empty()) return;
  KnownClaim& known = node.mapped();
  stop_waiting(known);
  if (known.own_watch != 0) watches_.unwatch(known.own_watch);
  if (known.lease != 0) leases_.is_unused(known.lease);
}

// --- watching -------------------------------------------------------------------------------------------------------

void Lookout::wait_for(const ClaimKey& claim, KnownClaim& known, const Line& line, Turn turn) {
  const bool one = turn.kind == Turn::Kind::behind_one;
  std::string ahead = one ? line[turn.ahead].key : keys_.line(claim.name.text(), known.permits);
  const std::int64_t revision = one ? line[turn.ahead].create_revision : 0;
  // A key may be used again by others: only its revision says whether it is the same claim.
  if (known.ahead_watch != 0 && known.ahead == ahead && known.ahead_revision == revision) return;
  stop_waiting(known);
  std::string range_end = one ? std::string() : Keys::end_of(ahead);
  known.ahead = ahead;
  known.ahead_revision = revision;
  known.ahead_watch =
      watches_.watch(std::move(ahead), std::move(range_end), [this, claim](Watches::What) { look(claim); });
}

void Lookout::stop_waiting(KnownClaim& known) {
  if (known.ahead_watch != 0) watches_.unwatch(std::exchange(known.ahead_watch, 0));
}

void Lookout::watch_lasting_claims() {
  const Instant now = loop_.now();
  while (!to_watch_.empty() && to_watch_.front().first <= now) {
    const ClaimKey claim = std::move(to_watch_.front().second);
    to_watch_.pop_front();
    const auto found = claims_.find(claim);
    if (found == claims_.end() || found->second.own_watch != 0) continue;
    found->second.own_watch = watches_.watch(found->second.key, {}, [this, claim](Watches::What) { look(claim); });
  }
  if (!to_watch_.empty()) timer_.set(to_watch_.front().first);
}

// --- looking --------------------------------------------------------------------------------------------------------

void Lookout::look(const ClaimKey& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end()) return;
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
    const std::string prefix = keys_.line(claim.name.text(), at->second.permits);
    Transaction read;
    read.then.emplace_back(Range{.key = prefix, .range_end = Keys::end_of(prefix)});
    auto reply = co_await spi::answer_of<TransactionReply>([&](Done<TransactionReply> done) {
      link_.transact(std::move(read), loop_.now() + spi::longest_patience, std::move(done));
    });
    at = claims_.find(claim);
    if (at == claims_.end() || at->second.create_revision != life) co_return Nothing{};
    if (!reply.ok() || reply.value().outcomes.size() != 1) {  // the core asks from time to time in any case
      at->second.looking = false;
      co_return Nothing{};
    }
    const Line line(reply.value().outcomes[0].found);
    looked(claim, line);
    at = claims_.find(claim);
    if (at == claims_.end() || at->second.create_revision != life) co_return Nothing{};
    if (!at->second.look_again) {
      at->second.looking = false;
      co_return Nothing{};
    }
  }
}

void Lookout::looked(const ClaimKey& claim, const Line& line) {
  const KnownClaim& before = claims_.at(claim);
  const auto place = line.find(before.key);
  if (!place || line[*place].create_revision != before.create_revision) {
    forget(claim);
    return events_.check(claim.name, claim.id);
  }
  note(claim, line, *place, before.permits);
  KnownClaim& known = claims_.at(claim);
  const ClaimAnswer answer = describe(known, line, *place);
  if (answer.standing != ClaimAnswer::Standing::granted) return;
  if (!std::exchange(known.granted, true)) return events_.granted(claim.name, claim.id, answer);
  if (answer.asked_to_release && !std::exchange(known.told_of_wish, true)) events_.check(claim.name, claim.id);
}

void Lookout::close() {
  timer_.cancel();
  to_watch_.clear();
  for (auto& [claim, known] : claims_) known.looking = true;  // nothing is looked at any more
}

}  // namespace holdfast::etcd
