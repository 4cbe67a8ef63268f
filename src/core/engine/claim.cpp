#include "core/engine/claim.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/engine/engine.hpp"

namespace holdfast::core {

using base::Duration;
using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimId;
using Standing = ClaimAnswer::Standing;

Claim::Claim(Engine& engine, const LockName& name, Owner& owner)
    : engine_(engine), name_(name), owner_(owner), timer_(engine.loop(), [this] { timer_due(); }) {}

Leftovers& Claim::leftovers() {
  if (!leftovers_) {
    leftovers_ = std::make_unique<Leftovers>(engine_, name_, [this] {
      if (idle()) owner_.claim_idle();
    });
  }
  return *leftovers_;
}

// --- acquiring ------------------------------------------------------------------------------------------------------

void Claim::ask(const Terms& terms, spi::WhenBusy when_busy, const std::string& reason, Told told) {
  if (leftovers_) leftovers_->before_acquire();
  if (phase_ != Phase::none) leftovers().cover(as_leftover(std::move(told)));
  id_ = engine_.new_claim_id();
  terms_ = terms;
  when_busy_ = when_busy;
  reason_ = reason.empty() ? nullptr : std::make_unique<const std::string>(reason);
  number_ = 0;
  lease_ = Lease(terms.ttl);
  renewing_ = false;
  lease_owed_ = false;
  check_again_ = false;
  downgrade_owed_ = false;
  asked_until_ = Instant::min();
  backoff_ = {};
  in_doubt_ = false;
  set_phase(Phase::acquiring);
  send_acquire();
}

/// The claim vanished while it was waiting: somebody removed it, or we were silent for too long. Its place is gone.
void Claim::ask_again() { ask(terms_, when_busy_, reason_ ? *reason_ : std::string()); }

void Claim::send_acquire() {
  timer_.cancel();
  const auto replaces = leftovers_ ? leftovers_->newest() : std::nullopt;
  const spi::ClaimRequest request{.name = name_,
                                  .id = id_,
                                  .mode = terms_.mode,
                                  .lease = terms_.ttl,
                                  .lease_kind = terms_.lease_kind,
                                  .when_busy = when_busy_,
                                  .lock_delay = terms_.lock_delay,
                                  .replaces = replaces,
                                  .client = engine_.identity(),
                                  .reason = reason_ ? *reason_ : std::string()};
  sent_at_ = engine_.loop().now();
  ++in_flight_;
  engine_.claims().acquire(request, [this, id = id_, replaces](const spi::Result<ClaimAnswer>& answer) {
    if (replaces && answer.ok()) leftovers_->replaced(*replaces);
    if (replaces && !answer.ok()) leftovers_->replacing_failed(*replaces);
    acquire_answered(id, answer);
    landed();
  });
}

void Claim::acquire_answered(ClaimId id, const spi::Result<ClaimAnswer>& result) {
  const Instant now = engine_.loop().now();
  note_contact(spi::was_reached(result));
  if (id != id_ || phase_ != Phase::acquiring) return;

  if (!result.ok()) {
    in_doubt_ = in_doubt_ || result.failure().code == Errc::in_doubt;
    if (spi::is_retryable(result.failure().code)) {
      timer_.set(now + next_backoff());
    } else if (in_doubt_) {
      drop();
    } else {
      forget();
    }
    return owner_.claim_failed(result.failure());
  }

  const ClaimAnswer& answer = result.value();
  acknowledge(answer);
  switch (answer.standing) {
    case Standing::granted: return become_granted(answer);
    case Standing::waiting: return become_waiting(answer);
    case Standing::absent:
      if (when_busy_ == spi::WhenBusy::wait) {  // not in line and not refused: it expired before we heard of it
        timer_.set(now + next_backoff());
        return;
      }
      set_phase(Phase::none);
      return owner_.claim_refused();
  }
}

void Claim::become_waiting(const ClaimAnswer& answer) {
  set_phase(Phase::waiting);
  number_ = std::max(number_, answer.number);
  if (std::exchange(check_again_, false)) {
    renew_now();
  } else {
    const Instant due = renewal_due();
    const bool sooner = answer.check_after > Duration::zero();
    renew_at(sooner ? std::min(due, engine_.loop().now() + answer.check_after) : due);
  }
  owner_.claim_changed();
}

void Claim::become_granted(const ClaimAnswer& answer) {
  if (engine_.loop().now() >= lease_.valid_until()) {
    // The news is older than the lease. Only a fresh answer can tell whether it is still ours.
    set_phase(Phase::waiting);
    return renew_now();
  }
  number_ = answer.number;
  set_phase(Phase::granted);
  const bool pushed = answer.armed_at == Instant::min();
  if (terms_.lease_kind == LeaseKind::fixed) {
    // While it waited, part of the lease has run: renewed once, so that the user has all of it.
    lease_owed_ = pushed;
    renewal_due_ = Instant::max();
    if (pushed) {
      renew_now();
    } else {
      set_timer();
    }
  } else if (std::exchange(check_again_, false)) {
    renew_now();
  } else {
    renew_at(renewal_due());
  }
  const ClaimId granted = id_;
  owner_.claim_granted();
  if (id_ == granted && phase_ == Phase::granted) note_release_request(answer);
}

// --- keeping --------------------------------------------------------------------------------------------------------

void Claim::renew_at(Instant instant) {
  renewal_due_ = instant;
  set_timer();
}

void Claim::renew_now() {
  renewing_ = true;
  sent_at_ = engine_.loop().now();
  engine_.renewals().renew(*this);
  set_timer();
}

void Claim::set_timer() {
  Instant next = renewing_ ? Instant::max() : renewal_due_;
  if (phase_ == Phase::granted) next = std::min(next, lease_.valid_until());
  timer_.set(next);
}

void Claim::timer_due() {
  const Instant now = engine_.loop().now();
  switch (phase_) {
    case Phase::none: return;
    case Phase::acquiring: return send_acquire();
    case Phase::granted:
      if (now >= lease_.valid_until()) return lose("its lease ended before it could be renewed", InStore::maybe);
      [[fallthrough]];
    case Phase::waiting:
      if (!renewing_ && now >= renewal_due_) return renew_now();
      return set_timer();
  }
}

void Claim::renewal_answered(ClaimId id, const spi::Result<ClaimAnswer>& result) {
  note_contact(spi::was_reached(result));
  ++(result.ok() ? engine_.counters().renewals : engine_.counters().failed_renewals);
  if (id == id_ && (phase_ == Phase::waiting || phase_ == Phase::granted)) {
    renewing_ = false;
    handle_renewal(result);
  }
  landed();
}

void Claim::handle_renewal(const spi::Result<ClaimAnswer>& result) {
  if (!result.ok()) {
    if (phase_ == Phase::waiting && !spi::is_retryable(result.failure().code)) {
      drop();
      return owner_.claim_failed(result.failure());
    }
    at_risk_ = phase_ == Phase::granted;
    renew_at(engine_.loop().now() + next_backoff());
    if (at_risk_) return owner_.claim_changed();
    return owner_.claim_failed(result.failure());
  }

  const ClaimAnswer& answer = result.value();
  if (phase_ == Phase::granted) return handle_kept(answer);
  acknowledge(answer);
  switch (answer.standing) {
    case Standing::granted: return become_granted(answer);
    case Standing::waiting: return become_waiting(answer);
    case Standing::absent: return ask_again();
  }
}

/// A granted claim was renewed, or turns out to be gone. Dead is dead: a grant of another number is not ours, and good
/// news that comes after V comes too late, because the user may have seen the loss already.
void Claim::handle_kept(const ClaimAnswer& answer) {
  if (engine_.loop().now() >= lease_.valid_until()) {
    return lose("its lease ended before it could be renewed", InStore::maybe);
  }
  if (answer.standing == Standing::absent) {
    return lose("the store does not have it any more: it expired or was broken", InStore::no);
  }
  if (answer.standing == Standing::granted && answer.number != number_) {
    return lose("it expired and was granted anew", InStore::maybe);
  }
  acknowledge(answer);
  at_risk_ = false;
  lease_owed_ = false;
  const bool stale = answer.standing == Standing::waiting;  // asked before the grant was known
  if (stale || std::exchange(check_again_, false)) {
    renew_now();
  } else {
    renew_at(terms_.lease_kind == LeaseKind::fixed ? Instant::max() : renewal_due());
  }
  if (downgrade_owed_) send_downgrade({});
  const ClaimId kept = id_;
  owner_.claim_changed();
  if (id_ == kept && phase_ == Phase::granted) note_release_request(answer);
}

/// Every answer repeats the request to release, so one is recognised by its reason and its deadline. Deadlines that
/// differ by less than a request to the store may take are the same, and so are those that have passed.
void Claim::note_release_request(const ClaimAnswer& answer) {
  if (!answer.asked_to_release) return;
  const auto& [reason, within] = *answer.asked_to_release;
  const Instant now = engine_.loop().now();
  const Instant until = base::saturating_add(now, within);
  const auto why = static_cast<std::uint32_t>(std::hash<std::string>()(reason));
  const bool over = within <= spi::milliseconds::zero() && asked_until_ <= now;
  const bool same_time = over || (until <= base::saturating_add(asked_until_, spi::longest_patience) &&
                                  asked_until_ <= base::saturating_add(until, spi::longest_patience));
  if (asked_for() && same_time && why == asked_why_) return;
  asked_until_ = until;
  asked_why_ = why;
  owner_.claim_asked_for(*answer.asked_to_release);
}

void Claim::downgrade(spi::Done<> done) {
  terms_.mode.kind = ClaimMode::shared;
  send_downgrade(std::move(done));
}

void Claim::send_downgrade(spi::Done<> done) {
  downgrade_owed_ = false;
  ++in_flight_;
  auto answered = [this, id = id_, done = std::move(done)](const spi::Result<ClaimAnswer>& answer) mutable {
    note_contact(spi::was_reached(answer));
    const bool current = id == id_ && phase_ == Phase::granted;
    const bool gone = answer.ok() && answer.value().standing == Standing::absent;
    if (current && !answer.ok()) downgrade_owed_ = true;
    if (current && gone) lose("the store does not have it any more: it expired or was broken", InStore::no);
    if (done && !answer.ok()) {
      done(answer.failure());
    } else if (done && (gone || !current)) {
      done(spi::Failure{Errc::lost, "the lock was lost before it could be downgraded"});
    } else if (done) {
      done(spi::Nothing{});
    }
    landed();
  };
  engine_.claims().downgrade({name_, kind(), id_, terms_.ttl}, std::move(answered));
}

void Claim::extend(spi::milliseconds length, spi::Done<> done) {
  const spi::ClaimRef longer{name_, kind(), id_, length};
  ++in_flight_;
  auto answered = [this, id = id_,
                   done = std::move(done)](const spi::Result<std::vector<ClaimAnswer>>& answers) mutable {
    note_contact(spi::was_reached(answers));
    if (id == id_ && phase_ == Phase::granted && answers.ok()) {
      handle_kept(answers.value()[0]);
    }
    if (!answers.ok()) {
      done(answers.failure());
    } else if (id == id_ && phase_ == Phase::granted) {
      done(spi::Nothing{});
    } else {
      done(spi::Failure{Errc::lost, "the lock was lost before it could be extended"});
    }
    landed();
  };
  engine_.claims().renew({&longer, 1}, std::move(answered));
}

void Claim::pushed(ClaimId id, const ClaimAnswer& answer) {
  if (id != id_ || phase_ == Phase::granted) return;
  const bool of_this_life = phase_ == Phase::waiting && answer.number >= number_;
  if (of_this_life && engine_.loop().now() < lease_.valid_until()) return become_granted(answer);
  check(id);
}

void Claim::check(ClaimId id) {
  if (id != id_) return;
  const bool in_store = phase_ == Phase::waiting || phase_ == Phase::granted;
  if (in_store && !renewing_) return renew_now();
  if (in_store || phase_ == Phase::acquiring) check_again_ = true;
}

/// Ends a grant that is ours no more.
void Claim::lose(const std::string& why, InStore in_store) {
  const bool may_release = in_store == InStore::maybe && terms_.lock_delay == spi::milliseconds::zero();
  if (may_release) {
    drop();
  } else {
    forget();
  }
  owner_.claim_lost(why);
}

// --- leaving --------------------------------------------------------------------------------------------------------

void Claim::leave(Told told, Leftovers::When when) {
  const bool store_never_heard = phase_ == Phase::acquiring && in_flight_ == 0 && !in_doubt_;
  if (store_never_heard) return forget();
  leftovers().uncover();
  leftovers_->release(as_leftover(std::move(told)), when);
  set_phase(Phase::none);
}

/// Leaves what nobody holds or waits for any more. The user has heard of it, or will.
void Claim::drop() {
  leftovers().uncover();
  Leftovers::Leftover leftover = as_leftover({});
  leftover.report = false;
  leftovers_->release(std::move(leftover));
  set_phase(Phase::none);
}

/// Leaves what the store does not have.
void Claim::forget() {
  if (leftovers_) leftovers_->uncover();
  set_phase(Phase::none);
}

/// The store may have heard our last request just now, and then the lease begins again there.
Leftovers::Leftover Claim::as_leftover(Told told) const {
  const Duration longest = Duration(terms_.ttl + terms_.lock_delay) + 2 * drift_allowance(terms_.ttl);
  const Instant from = std::max(engine_.loop().now(), lease_.valid_until());
  return {.id = id_,
          .kind = kind(),
          .until = engine_.leases_are_sessions() ? Instant::max() : base::saturating_add(from, longest),
          .lease = terms_.ttl,
          .told = std::move(told)};
}

// --- small things ---------------------------------------------------------------------------------------------------

void Claim::set_phase(Phase phase) {
  phase_ = phase;
  timer_.cancel();
  if (phase != Phase::granted) at_risk_ = false;
  const bool user_waits = phase == Phase::acquiring || phase == Phase::waiting;
  if (user_waits && !expectation_) expectation_.emplace(engine_.loop(), spi::Expectation::Of::user);
  if (!user_waits) expectation_.reset();
}

/// Doubles with each failure, up to what one request may take.
Duration Claim::next_backoff() {
  const Duration most = spi::patience(terms_.ttl);
  backoff_ = std::clamp(backoff_ * 2, most / 8, most);
  return engine_.jittered(backoff_);
}

void Claim::note_contact(bool answered) {
  engine_.contact(answered);
  if (!answered) return;
  last_answer_at_ = engine_.loop().now();
  backoff_ = {};
}

void Claim::acknowledge(const ClaimAnswer& answer) {
  acknowledged_sent_at_ = sent_at_;
  lease_.armed(answer.armed_at, answer.lease);
}

/// Renewing a fixed lease that the user has had in full only asks about it.
spi::milliseconds Claim::renewal_length() const {
  const bool ask_only = terms_.lease_kind == LeaseKind::fixed && phase_ == Phase::granted && !lease_owed_;
  return ask_only ? spi::milliseconds::zero() : terms_.ttl;
}

/// The last thing an answer does: the owner may forget us.
void Claim::landed() {
  --in_flight_;
  if (idle()) owner_.claim_idle();
}

}  // namespace holdfast::core
