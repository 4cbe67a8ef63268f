#include <algorithm>
#include <optional>
#include <utility>

#include "core/engine/cell.hpp"
#include "core/engine/engine.hpp"
#include "spi/part_name.hpp"

// Who holds on which claim: how the line is served, how holds end, and what becomes of the claims.

namespace holdfast::core {

using base::Duration;
using base::Instant;
using spi::Failure;
using Phase = Claim::Phase;

namespace {

/// The name as the user gave it.
std::shared_ptr<const LockName> shown_name(const std::shared_ptr<const LockName>& name) {
  const auto [users, part] = spi::PartName::split(name->text());
  return part.empty() ? name : std::make_shared<const LockName>(users);
}

}  // namespace

// --- holds ----------------------------------------------------------------------------------------------------------

/// The first in line holds on this claim. REQUIRES: it is granted.
void Cell::admit_front(HoldGroup& group) {
  Request& first = line_.front();
  const bool exclusive = first.exclusive();
  const std::uint64_t turn = exclusive ? group.turns : group.writers_turn;
  const bool has_turns = engine_.options().local_turns > 0;
  const Token token(has_turns ? group.claim.number() << 8U | turn : group.claim.number());
  auto hold = std::make_shared<HoldRecord>(group, shown_name(name_), token, first.mode);
  const Duration max_hold = detail::saturated(first.options.max_hold);
  const Instant end = base::saturating_add(engine_.loop().now(), max_hold);
  if (max_hold > Duration::zero() && end != Instant::max()) {
    hold->end_at(end, engine_.loop(), [this, record = hold.get()] {
      Cell& cell = *this;  // the timer goes with the hold, and this function with the timer
      cell.max_hold_is_over(*record);
      cell.forget_if_idle();
    });
  }
  hold->extend_until(group.claim.valid_until());
  group.holds.add(hold);
  answer(first, std::move(hold));
}

void Cell::release(HoldRecord& hold, Claim::Told told) {
  catch_up(hold);
  if (hold.group() == nullptr) {
    if (told) told(Released::not_held);
    return forget_if_idle();
  }
  HoldGroup& group = *hold.group();
  const auto released = group.holds.remove(hold);
  released->end(HoldState::released, engine_.user());
  if (!group.holds.empty()) {
    if (told) told(Released::released);  // other readers go on
    return;
  }
  const bool ends_here = group.stays_closed;
  pass_on(group, std::move(told));
  if (ends_here) forget_if_idle();
}

/// REQUIRES: the claim is granted, and nobody holds on it any more.
void Cell::pass_on(HoldGroup& group, Claim::Told told) {
  if (group.stays_closed) {  // somebody who has lost it may still be at work
    group.claim.let_expire();
    if (told) told(Released::released);
    pump();
  } else if (may_hand_over(group)) {
    ++group.turns;
    ++engine_.counters().local_turns;
    admit_front(group);
    if (told) told(Released::released);
  } else if (line_.empty() || sought_ != nullptr) {
    vacant_ = &group;
    group.claim.leave(std::move(told), sought_ == nullptr ? Leftovers::When::soon : Leftovers::When::now);
  } else {
    seek(group, std::move(told));
  }
}

/// Whether a claim may still serve others here than those for whom it was granted.
bool Cell::within_bounds(const HoldGroup& group) const {
  const Claim& claim = group.claim;
  if (claim.phase() != Phase::granted || claim.at_risk() || claim.asked_for()) return false;
  if (claim.terms().lease_kind == LeaseKind::fixed) return false;
  const EngineOptions& options = engine_.options();
  const Instant now = engine_.loop().now();
  const Duration bound = std::min(Duration(claim.terms().ttl) / options.max_local_share, options.max_local_time);
  return group.turns < options.local_turns && now - group.began < bound && now < claim.valid_until();
}

bool Cell::may_hand_over(const HoldGroup& group) const {
  if (line_.empty() || !group.suits(line_.front()) || !line_.front().exclusive()) return false;
  return within_bounds(group);
}

/// What is held already and can serve a reader, too.
HoldGroup* Cell::shared_group_for(const Request& request) const {
  if (!request.shared()) return nullptr;
  for (HoldGroup* group = groups_.first(); group != nullptr; group = groups_.next(*group)) {
    if (group->held_as(ClaimMode::shared) && group->suits(request) && within_bounds(*group)) return group;
  }
  return nullptr;
}

/// Readers whose claim has served its time go on with a newer one: both are held, so there is no gap.
void Cell::absorb_older_readers(HoldGroup& newer) {
  const Claim::Terms& terms = newer.claim.terms();
  if (terms.mode.kind != ClaimMode::shared || terms.lease_kind == LeaseKind::fixed) return;
  for (HoldGroup* older = groups_.first(); older != nullptr; older = groups_.next(*older)) {
    const bool same = older != &newer && older->claim.phase() == Phase::granted && older->claim.terms() == terms;
    const Instant now = engine_.loop().now();
    if (!same || older->claim.valid_until() <= now) continue;
    // Whoever asked for the older one means its readers, and an extended lease must not become shorter.
    const bool extended = older->claim.valid_until() > base::saturating_add(now, terms.ttl);
    if (older->claim.asked_for() || extended) continue;
    while (HoldRecord* const hold = older->holds.first()) {
      newer.holds.add(older->holds.remove(*hold));
      hold->move_to(newer);
    }
    if (older->stays_closed) {
      older->claim.let_expire();
    } else {
      older->claim.leave();
    }
  }
  claim_changed(newer);
}

void Cell::extend(HoldRecord& hold, spi::milliseconds length, spi::Done<> done) {
  catch_up(hold);
  if (hold.group() != nullptr) return hold.group()->claim.extend(length, std::move(done));
  engine_.loop().defer([done = std::move(done), name = name_]() mutable {
    done(Failure{Errc::lost, "lock '" + spi::PartName::shown(*name) + "' was lost; it cannot be extended"});
  });
}

void Cell::downgrade(HoldRecord& hold, spi::Done<> done) {
  catch_up(hold);
  std::optional<Failure> refusal;
  if (hold.group() == nullptr) {
    refusal = Failure{Errc::lost, called() + " was lost; it cannot be downgraded"};
  } else if (hold.mode() == ClaimMode::permits) {
    refusal = Failure{Errc::invalid_argument, "permits of '" + spi::PartName::shown(*name_) + "' cannot be shared"};
  } else if (!engine_.traits().shared) {
    refusal = Failure{Errc::unsupported, engine_.traits().store + " does not support shared locks"};
  }
  if (refusal || hold.mode() == ClaimMode::shared) {
    engine_.loop().defer([done = std::move(done), refusal = std::move(refusal)]() mutable {
      if (refusal) {
        done(*std::move(refusal));
      } else {
        done(spi::Nothing{});
      }
    });
    return;
  }
  hold.make_shared();
  hold.group()->writers_turn = hold.group()->turns;
  hold.group()->claim.downgrade(std::move(done));
  pump();
}

void Cell::lose(HoldRecord& hold, const std::string& why) {
  HoldGroup& group = *hold.group();
  const auto lost = group.holds.remove(hold);
  group.stays_closed = group.claim.terms().lock_delay > spi::milliseconds::zero();
  ++engine_.counters().lost;
  engine_.user().log(LogLevel::error, called() + " was lost: " + why);
  lost->end(HoldState::lost, engine_.user());
}

void Cell::lose_all(HoldGroup& group, const std::string& why) {
  while (HoldRecord* const hold = group.holds.first()) lose(*hold, why);
}

void Cell::max_hold_is_over(HoldRecord& hold) {
  HoldGroup& group = *hold.group();
  lose(hold, "it was held for as long as max_hold allows");
  if (group.holds.empty()) pass_on(group, {});
}

/// After a pause the timers may be late: whatever they are about to say is true already. (Permits stand in nobody's way
/// here, and there may be many.)
void Cell::catch_up() {
  if (kind == LockKind::semaphore) return;
  for (HoldGroup *group = groups_.first(), *next = nullptr; group != nullptr; group = next) {
    next = groups_.next(*group);
    if (HoldRecord* const hold = group->holds.first()) catch_up(*hold);
  }
}

void Cell::catch_up(HoldRecord& hold) {
  if (hold.group() == nullptr) return;
  const Instant now = engine_.loop().now();
  HoldGroup& group = *hold.group();
  if (now >= hold.ends_at()) {
    max_hold_is_over(hold);
  } else if (now >= group.claim.valid_until()) {
    group.claim.catch_up();
  } else if (hold.seen_lost()) {
    claim_changed(group);
  }
}

// --- what becomes of a claim ----------------------------------------------------------------------------------------

void Cell::claim_granted(HoldGroup& group) {
  if (sought_ == &group) sought_ = nullptr;
  group.turns = group.writers_turn = 0;
  group.stays_closed = false;
  group.began = engine_.loop().now();
  ++engine_.counters().grants;
  if (line_.empty()) return group.claim.leave();
  if (!group.suits(line_.front())) return seek(group);
  admit_front(group);
  if (group.claim.terms().mode.kind == ClaimMode::exclusive) return;
  // All readers that stood behind the first enter with it.
  const bool joined = group.claim.terms().mode.kind == ClaimMode::shared && engine_.options().local_turns > 0 &&
                      group.claim.terms().lease_kind == LeaseKind::renewed;
  while (joined && group.claim.phase() == Phase::granted && !line_.empty() && group.suits(line_.front())) {
    ++engine_.counters().local_turns;
    admit_front(group);
  }
  absorb_older_readers(group);
  pump();
}

void Cell::claim_refused(HoldGroup& group) {
  if (sought_ == &group) sought_ = nullptr;
  answer_tries(Failure{Errc::busy});
  pump();
}

void Cell::claim_changed(HoldGroup& group) {
  if (group.claim.phase() == Phase::waiting) return answer_tries(Failure{Errc::busy});
  const bool had_holds = !group.holds.empty();
  HoldRecord* next = nullptr;
  for (HoldRecord* hold = group.holds.first(); hold != nullptr; hold = next) {
    next = group.holds.next(*hold);
    if (hold->seen_lost()) {
      lose(*hold, "its lease ended before it could be renewed");
      continue;
    }
    hold->extend_until(group.claim.valid_until());
    hold->set_at_risk(group.claim.at_risk(), engine_.user());
  }
  if (had_holds && group.holds.empty()) pass_on(group, {});
}

void Cell::claim_lost(HoldGroup& group, const std::string& why) {
  lose_all(group, why);
  pump();
}

void Cell::claim_asked_for(HoldGroup& group, const ReleaseRequest& request) {
  for (HoldRecord* hold = group.holds.first(); hold != nullptr; hold = group.holds.next(*hold)) {
    hold->asked_for(request, engine_.user());
  }
}

void Cell::claim_failed(HoldGroup& group, const Failure& failure) {
  last_failure_ = std::make_unique<const Failure>(failure);
  if (!spi::is_retryable(failure.code)) {
    const Claim::Terms terms = group.claim.terms();
    if (sought_ == &group) sought_ = nullptr;
    Request* next = nullptr;
    for (Request* request = line_.first(); request != nullptr; request = next) {
      next = line_.next(*request);
      if (request->terms() == terms) answer(*request, failure);
    }
    return pump();
  }
  if (!engine_.contacted()) return;
  answer_tries(failure, Tries::those_that_outlast_no_failure);
  pump();
}

/// Must be the last thing a function does, as with forget_if_idle().
void Cell::claim_idle(HoldGroup& group) {
  if (groups_.size() > 1 && group.holds.empty() && &group != sought_) dispose_of(group);
  forget_if_idle();
}

void Cell::granted(spi::ClaimId id, const spi::ClaimAnswer& answer) {
  if (HoldGroup* const group = find(id)) group->claim.pushed(id, answer);
}

void Cell::check(spi::ClaimId id) {
  if (HoldGroup* const group = find(id)) group->claim.check(id);
}

}  // namespace holdfast::core
