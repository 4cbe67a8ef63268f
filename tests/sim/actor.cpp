#include "sim/actor.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

/// Between looking at the hold and writing: where a pause does the most harm.
constexpr microseconds between_look_and_write{60};

Duration after(microseconds planned) { return planned > microseconds::zero() ? Duration(planned) : Duration::max(); }

}  // namespace

void Actor::record(Event event) {
  event.subject = turn_index_;
  event.client = turn_->client;
  event.name = turn_->name;
  event.mode = static_cast<std::uint8_t>(hold_ ? hold_->mode() : turn_->mode);
  event.permits = turn_->permits;
  place_.timeline.record(event);
}

core::Cell& Actor::cell() const {
  const LockKind kind = turn_->mode == ClaimMode::permits ? LockKind::semaphore : LockKind::lock;
  return place_.engine.cell(SimStore::name(turn_->name), kind);
}

void Actor::start() {
  state_ = State::resting;
  if (place_.next == place_.turns.size()) return;
  turn_index_ = place_.turns[place_.next++];
  turn_ = &place_.plan.turns[turn_index_];
  state_ = State::thinking;
  timer_.set(place_.loop.now() + turn_->thinks);
}

void Actor::timer_due() {
  switch (state_) {
    case State::resting: return;
    case State::thinking: return enter();
    case State::waiting: record({.what = What::cancels}); return cell().cancel(*request_, {Errc::cancelled});
    case State::holding: return next_step();
  }
}

void Actor::enter() {
  const Instant now = place_.loop.now();
  options_.ttl = turn_->ttl;
  options_.lease = turn_->fixed_lease ? LeaseKind::fixed : LeaseKind::renewed;
  options_.max_hold = turn_->max_hold;
  options_.lock_delay = turn_->lock_delay;
  const Instant deadline = turn_->deadline > microseconds::zero() ? now + turn_->deadline : Instant::max();
  state_ = State::waiting;
  timer_.set(base::saturating_add(now, after(turn_->cancels_after)));
  record({.until = moment(deadline),
          .length = static_cast<std::uint32_t>(turn_->ttl.count()),
          .what = What::entered,
          .detail = turn_->refuses_to_wait,
          .lock_delay = static_cast<std::uint8_t>(turn_->lock_delay.count())});

  core::Cell& cell = this->cell();
  if (!place_.plan.keeps_mutexes) {
    kept_ = &cell;
    cell.keep();
  }
  const std::uint8_t limit = place_.plan.limits[turn_->name];
  const spi::Mode mode = limit > 0 ? spi::Mode{turn_->mode, turn_->permits, limit} : spi::Mode{turn_->mode};
  request_.emplace(
      options_, turn_->refuses_to_wait ? spi::WhenBusy::refuse : spi::WhenBusy::wait, deadline,
      [this](core::Request::Answer answer) { answered(std::move(answer)); }, mode);
  cell.enter(*request_);
}

void Actor::answered(core::Request::Answer answer) {
  if (answer.ok()) return begin_hold(std::move(answer.value()));
  const Errc code = answer.failure().code;
  record({.what = What::answered, .detail = static_cast<std::uint8_t>(code)});
  timer_.cancel();
  if (code == Errc::closed) {
    state_ = State::resting;
    return;
  }
  // The request is still the cell's until this call returns, and the next turn needs another one.
  place_.loop.defer([this] { finish_turn(); });
}

void Actor::begin_hold(std::shared_ptr<core::HoldRecord> hold) {
  hold_ = std::move(hold);
  granted_at_ = place_.loop.now();
  valid_until_ = hold_->valid_until();
  lost_ = believes_ = has_written_ = has_extended_ = has_downgraded_ = false;
  claim_ = {};
  record({.until = moment(valid_until_),
          .value = hold_->token.value(),
          .length = static_cast<std::uint32_t>(turn_->ttl.count()),
          .what = What::granted,
          .detail = turn_->listens});
  note_claim();
  if (turn_->listens) {
    hold_->on_change(
        [this, index = turn_index_, turn = turn_](HoldState state) {
          place_.timeline.record({.subject = index,
                                  .what = What::told,
                                  .client = turn->client,
                                  .name = turn->name,
                                  .detail = static_cast<std::uint8_t>(state)});
        },
        place_.engine.user());
  }
  state_ = State::holding;
  next_step();
}

/// Does what is due, then waits for what comes next.
void Actor::next_step() {
  const Duration held_for = place_.loop.now() - granted_at_;
  if (believes_) {
    believes_ = false;
    if (hold_->mode() == ClaimMode::exclusive) write();
  }
  if (!has_written_ && held_for >= after(turn_->writes_after)) {
    has_written_ = true;
    const HoldState state = hold_->state_at(place_.loop.now());
    believes_ = state == HoldState::held || state == HoldState::at_risk;
  }
  if (!has_extended_ && held_for >= after(turn_->extends_after)) {
    has_extended_ = true;
    extend();
  }
  if (!has_downgraded_ && held_for >= after(turn_->downgrades_after)) {
    has_downgraded_ = true;
    downgrade();
  }
  const bool forgets = turn_->ending == Ending::forget;
  if (!believes_ && (forgets ? lost_ : held_for >= turn_->holds)) return let_go();

  Duration next = forgets ? Duration::max() : Duration(turn_->holds);
  if (believes_) next = held_for + between_look_and_write;
  if (!has_written_) next = std::min(next, after(turn_->writes_after));
  if (!has_extended_) next = std::min(next, after(turn_->extends_after));
  if (!has_downgraded_) next = std::min(next, after(turn_->downgrades_after));
  timer_.set(base::saturating_add(granted_at_, next));
}

void Actor::write() {
  const std::uint32_t at = place_.network.make();
  Message& message = place_.network[at];
  message.life = place_.life;
  message.client = turn_->client;
  message.items[0].claim = turn_index_;
  message.items[0].name = turn_->name;
  message.items[0].number = hold_->token.value();
  place_.network.send_write(at);
}

void Actor::extend() {
  core::Cell* const cell = hold_->cell();
  if (cell == nullptr) return;
  record({.length = static_cast<std::uint32_t>(turn_->extends_by.count()), .what = What::extends});
  cell->extend(*hold_, turn_->extends_by, [this, index = turn_index_, turn = turn_](const spi::Result<>& result) {
    const int code = result.ok() ? 0 : static_cast<int>(result.failure().code);
    place_.timeline.record({.subject = index,
                            .what = What::extended,
                            .client = turn->client,
                            .name = turn->name,
                            .detail = static_cast<std::uint8_t>(code)});
  });
}

void Actor::downgrade() {
  core::Cell* const cell = hold_->cell();
  if (cell == nullptr) return;
  observe();  // it is lost if its lease has ended
  if (lost_ || place_.loop.now() >= hold_->valid_until()) return;
  record({.until = moment(hold_->valid_until()), .what = What::downgrades});
  cell->downgrade(*hold_, [this, index = turn_index_, turn = turn_](const spi::Result<>& result) {
    const int code = result.ok() ? 0 : static_cast<int>(result.failure().code);
    place_.timeline.record({.subject = index,
                            .what = What::downgraded,
                            .client = turn->client,
                            .name = turn->name,
                            .detail = static_cast<std::uint8_t>(code)});
  });
}

/// Readers move from one claim to another.
void Actor::note_claim() {
  if (!hold_ || hold_->group() == nullptr) return;
  const spi::ClaimId claim = hold_->group()->claim.id();
  if (claim == claim_) return;
  claim_ = claim;
  record({.value = place_.store.index_of(claim), .what = What::holds_on});
}

void Actor::let_go() {
  observe();  // it may have been lost just now, by what another thread did
  if (core::Cell* cell = hold_->cell()) release(*cell);
  hold_.reset();
  finish_turn();
}

void Actor::release(core::Cell& cell) {
  const bool hears = turn_->ending == Ending::release_and_hear;
  record({.until = moment(hold_->valid_until()), .what = What::releases, .detail = hears});
  core::Claim::Told told;
  if (hears) {
    told = [this, index = turn_index_, turn = turn_](Released outcome) {
      place_.timeline.record({.subject = index,
                              .what = What::released,
                              .client = turn->client,
                              .name = turn->name,
                              .detail = static_cast<std::uint8_t>(outcome)});
    };
  }
  cell.release(*hold_, std::move(told));
}

void Actor::finish_turn() {
  if (core::Cell* kept = std::exchange(kept_, nullptr)) kept->let_go();
  if (place_.engine.closing()) {
    stop();
  } else {
    start();
  }
}

void Actor::observe() {
  if (!hold_ || lost_) return;
  note_claim();
  const Instant valid_until = hold_->valid_until();
  if (hold_->cell() == nullptr) {
    lost_ = true;
    record({.until = moment(valid_until), .what = What::lost});
    if (turn_->ending == Ending::forget) timer_.set(place_.loop.now());
  } else if (valid_until != valid_until_) {
    record({.until = moment(valid_until), .what = What::renewed});
  }
  valid_until_ = valid_until;
}

void Actor::sample() {
  if (!hold_) return;
  const HoldState state = hold_->state_at(place_.loop.now());
  record({.until = moment(hold_->valid_until()), .what = What::sampled, .detail = static_cast<std::uint8_t>(state)});
}

void Actor::stop() {
  timer_.cancel();
  state_ = State::resting;
  observe();
  hold_.reset();
  if (core::Cell* kept = std::exchange(kept_, nullptr)) kept->let_go();
}

}  // namespace holdfast::sim
