#include "core/cell.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/engine.hpp"

namespace holdfast::core {

using spi::Duration;
using spi::Failure;
using spi::Instant;
using Phase = Claim::Phase;

namespace {

Claim::Terms terms_of(const Request& request) {
  return {.ttl = request.options.ttl, .kind = request.options.lease, .when_busy = request.when_busy};
}

/// Whether a grant on these terms is what the request wants. (When it was asked for, it may not have wanted to wait.)
bool suits(const Claim::Terms& terms, const Request& request) {
  return terms.ttl == request.options.ttl && terms.kind == request.options.lease;
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Cell::Cell(Engine& engine, const LockName& name)
    : serial(next_serial()),
      engine_(engine),
      name_(std::make_shared<const LockName>(name)),
      claim_(engine, *name_, *this) {}

Cell::~Cell() = default;

// --- the line -------------------------------------------------------------------------------------------------------

void Cell::enter(Request& request) {
  catch_up();
  request.entered_at = engine_.loop().now();
  if (engine_.closing()) {
    return answer(request, Failure{Errc::closed, "lock '" + name_->text() + "': the client is closed"});
  }
  const bool somebody_is_first = hold_ || !line_.empty();
  if (request.when_busy == spi::WhenBusy::refuse && somebody_is_first) return answer(request, Failure{Errc::busy});
  line_.push_back(request);
  set_request_timer(request);
  pump();
}

void Cell::cancel(Request& request, Failure why) {
  if (!request.listed()) return;
  answer(request, std::move(why));
  if (hold_) return;
  const bool claimed = claim_.phase() == Phase::asking || claim_.phase() == Phase::waiting;
  if (!line_.empty()) {
    pump();
  } else if (claimed) {
    claim_.leave();
  }
  forget_if_idle();
}

/// Sees to it that the store is asked for what the first in line wants.
void Cell::pump(Claim::Told told) {
  if (hold_ || line_.empty()) return;
  const Request& first = line_.front();
  const bool under_way = claim_.phase() == Phase::asking || claim_.phase() == Phase::waiting;
  if (under_way && suits(claim_.terms(), first)) return;
  claim_.ask(terms_of(first), first.options.reason, std::move(told));
}

void Cell::answer(Request& request, Request::Answer answer) {
  if (request.listed()) line_.remove(request);
  request.timer.reset();
  auto done = std::move(request.done);
  done(std::move(answer));
}

void Cell::answer_all(const Failure& why) {
  while (!line_.empty()) answer(line_.front(), why);
}

void Cell::set_request_timer(Request& request) {
  Instant due = request.deadline;
  if (!engine_.contacted()) {
    due = std::min(due, spi::saturating_add(request.entered_at, engine_.options().connect_timeout));
  }
  if (due == Instant::max()) return;
  request.timer.emplace(engine_.loop(), [this, &request] { request_timer_due(request); });
  request.timer->set(due);
}

void Cell::request_timer_due(Request& request) {
  const Instant now = engine_.loop().now();
  if (now >= request.deadline) return cancel(request, why_not_in_time(request));
  if (!engine_.contacted()) {
    return cancel(request, Failure{why_no_answer(), "lock '" + name_->text() + "': no contact with the store within " +
                                                        "the connect_timeout; " + last_failure().detail});
  }
  if (request.deadline != Instant::max()) request.timer->set(request.deadline);
}

const Failure& Cell::last_failure() const {
  static const Failure none_yet{Errc::in_doubt, "it was asked, and nothing was heard yet"};
  return last_failure_ ? *last_failure_ : none_yet;
}

/// A store that was never heard cannot be said to have been asked.
Errc Cell::why_no_answer() const {
  const Errc code = last_failure().code;
  return code == Errc::in_doubt && !engine_.contacted() ? Errc::unreachable : code;
}

Failure Cell::why_not_in_time(const Request& request) const {
  const bool store_knows = claim_.phase() == Phase::waiting || claim_.last_answer_at() >= request.entered_at;
  if (hold_ || store_knows) return Failure{Errc::timed_out};
  return {why_no_answer(), "lock '" + name_->text() + "': the store did not answer in time; " + last_failure().detail};
}

// --- the hold -------------------------------------------------------------------------------------------------------

void Cell::release(HoldRecord& hold, Claim::Told told) {
  catch_up();
  if (hold_.get() != &hold) {
    if (told) told(Released::not_held);
    return;
  }
  if (max_hold_timer_) max_hold_timer_->cancel();
  std::exchange(hold_, nullptr)->end(HoldState::released, engine_.user());
  pass_on(std::move(told));
}

/// REQUIRES: nobody holds, and the claim is granted.
void Cell::pass_on(Claim::Told told) {
  if (may_hand_over()) {
    ++turn_;
    ++engine_.counters().local_turns;
    hand_to_front();
    if (told) told(Released::released);
  } else if (line_.empty()) {
    claim_.leave(std::move(told));
  } else {
    pump(std::move(told));
  }
}

bool Cell::may_hand_over() const {
  if (line_.empty() || claim_.phase() != Phase::granted || claim_.at_risk()) return false;
  if (claim_.terms().kind == LeaseKind::fixed || !suits(claim_.terms(), line_.front())) return false;
  const Duration tenure = engine_.loop().now() - tenure_began_;
  const EngineOptions& options = engine_.options();
  const Duration bound = std::min(Duration(claim_.terms().ttl) / options.max_local_share, options.max_local_time);
  return turn_ < options.local_turns && tenure < bound;
}

void Cell::hand_to_front() {
  Request& first = line_.front();
  const Instant now = engine_.loop().now();
  const bool turns = engine_.options().local_turns > 0;
  const Token token(turns ? claim_.number() << 8U | turn_ : claim_.number());
  hold_ = std::make_shared<HoldRecord>(*this, name_, token);
  const Duration max_hold = detail::saturated(first.options.max_hold);
  hold_ends_at_ = max_hold > Duration::zero() ? spi::saturating_add(now, max_hold) : Instant::max();
  if (hold_ends_at_ != Instant::max() && !max_hold_timer_) {
    max_hold_timer_ = std::make_unique<spi::Timer>(engine_.loop(), [this] { max_hold_is_over(); });
  }
  if (max_hold_timer_) max_hold_timer_->set(hold_ends_at_);
  hold_->extend_until(std::min(claim_.valid_until(), hold_ends_at_));
  answer(first, hold_);
}

void Cell::extend(HoldRecord& hold, spi::milliseconds length, spi::Done<> done) {
  catch_up();
  if (hold_.get() == &hold) return claim_.extend(length, std::move(done));
  engine_.loop().defer([done = std::move(done), name = name_]() mutable {
    done(Failure{Errc::lost, "lock '" + name->text() + "' was lost; it cannot be extended"});
  });
}

void Cell::lose_hold(const std::string& why) {
  if (!hold_) return;
  if (max_hold_timer_) max_hold_timer_->cancel();
  ++engine_.counters().lost;
  engine_.user().log(LogLevel::warning, "lock '" + name_->text() + "' was lost: " + why);
  std::exchange(hold_, nullptr)->end(HoldState::lost, engine_.user());
}

void Cell::max_hold_is_over() {
  lose_hold("it was held for as long as max_hold allows");
  pass_on({});
}

/// After a pause the timers may be late: whatever they are about to say is true already.
void Cell::catch_up() {
  const Instant now = engine_.loop().now();
  if (!hold_) return;
  if (now >= hold_ends_at_) return max_hold_is_over();
  if (now >= hold_->valid_until()) return claim_.catch_up();
  if (hold_->seen_lost()) claim_changed();
}

// --- what becomes of the claim --------------------------------------------------------------------------------------

void Cell::claim_granted() {
  turn_ = 0;
  tenure_began_ = engine_.loop().now();
  ++engine_.counters().grants;
  if (line_.empty()) return claim_.leave();
  if (!suits(claim_.terms(), line_.front())) return pump();
  hand_to_front();
}

void Cell::claim_refused() {
  if (!line_.empty() && line_.front().when_busy == spi::WhenBusy::refuse) answer(line_.front(), Failure{Errc::busy});
  pump();
}

void Cell::claim_changed() {
  if (!hold_) return;
  if (hold_->seen_lost()) {
    lose_hold("its lease ended before it could be renewed");
    return pass_on({});
  }
  hold_->extend_until(std::min(claim_.valid_until(), hold_ends_at_));
  hold_->set_at_risk(claim_.at_risk(), engine_.user());
}

void Cell::claim_lost(const std::string& why) {
  lose_hold(why);
  pump();
}

void Cell::claim_failed(const Failure& failure) {
  last_failure_ = std::make_unique<const Failure>(failure);
  if (!spi::is_retryable(failure.code)) return answer_all(failure);
  const bool will_not_wait = !line_.empty() && line_.front().when_busy == spi::WhenBusy::refuse;
  if (will_not_wait && engine_.contacted()) cancel(line_.front(), failure);
}

void Cell::claim_idle() { forget_if_idle(); }

// --- the end --------------------------------------------------------------------------------------------------------

void Cell::close() {
  answer_all(Failure{Errc::closed, "lock '" + name_->text() + "': the client is closed"});
  lose_hold("the client is closed");
  if (claim_.phase() != Phase::none) claim_.leave();
  closing_ = true;
  forget_if_idle();
}

void Cell::let_go() {
  --keepers_;
  forget_if_idle();
}

/// Must be the last thing a function does: afterwards the cell may be gone.
void Cell::forget_if_idle() {
  if (!idle()) return;
  Engine& engine = engine_;
  const bool was_closing = std::exchange(closing_, false);
  if (keepers_ == 0) engine.forget(*this);
  if (was_closing) engine.cell_closed();
}

}  // namespace holdfast::core
