#include "ids/worker_lease.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::ids {

using base::Duration;
using base::Instant;

WorkerLease::WorkerLease(LeaseRules rules, RandomSource random)
    : rules_(std::move(rules)),
      random_(std::move(random)),
      // A living process extends when half of its window is left; the rest is for one that has to try again.
      check_({.max_ahead = rules_.max_ahead, .witness_rests = rules_.window}) {
  begin_round();
}

std::int64_t WorkerLease::ticks_in(Duration duration) const {
  const Duration tick = rules_.layout.tick();
  return (duration + tick - Duration(1)) / tick;
}

WorkerLease::Step WorkerLease::step(const Moment& moment) {
  check_.observe(moment.wall, moment.boot);
  if (trouble_ && trouble_->final) return Over{};
  if (pending_) {
    if (!pending_->in_doubt) return write_pending();
    if (moment.boot < retry_at_) return Rest{retry_at_};
    if (pending_->purpose == Purpose::open_pool) return look(Asked::doubt, {.pool = true});
    return look(Asked::doubt, {.numbers = {pending_->at.number}});
  }
  if (leave_at_ && phase_ != Phase::holding) {  // there is nothing to give back
    leave_at_.reset();
    if (phase_ == Phase::settling) acquire_anew();
    if (for_good_) phase_ = Phase::over;
  }
  switch (phase_) {
    case Phase::acquiring: return acquire(moment);
    case Phase::settling: return settle(moment);
    case Phase::holding: return hold(moment);
    case Phase::over: break;
  }
  return Over{};
}

// --- settling and holding -------------------------------------------------------------------------------------------

/// A store may have lost the record of somebody who still issues ids of this number. After a window and the most that
/// clocks differ by, nobody does; and whoever took the number meanwhile has changed the version.
WorkerLease::Step WorkerLease::settle(const Moment& moment) {
  constexpr Duration soon = std::chrono::milliseconds(100);
  const std::int64_t tick = tick_of(moment);
  if (moment.boot < settled_at_) return Rest{settled_at_};
  if (moment.boot < retry_at_) return Rest{retry_at_};
  if (tick < settled_tick_) return Rest{base::saturating_add(moment.boot, soon)};
  if (auto first = check_clock(moment)) return *first;
  const std::int64_t start = std::max({tick, mine_.hwm, moment.reached});
  const std::int64_t hwm = std::min(std::max(mine_.hwm, tick + ticks_in(rules_.window)), rules_.layout.ticks());
  if (start >= hwm) {
    if (tick >= rules_.layout.ticks()) {
      acquire_anew();
      return acquire(moment);
    }
    return Rest{base::saturating_add(moment.boot, soon)};
  }
  since_ = start;
  return begin(Purpose::confirm, mine_, hwm);
}

WorkerLease::Step WorkerLease::hold(const Moment& moment) {
  constexpr Duration longest_rest = std::chrono::seconds(1);  // somebody has to look at the clock
  const Tenure& held = *held_;
  if (leave_at_) {
    if (moment.boot < retry_at_) return Rest{retry_at_};
    return begin(Purpose::leave, mine_, std::clamp(*leave_at_, held.start, held.limit));
  }
  const std::int64_t tick = tick_of(moment);
  if (tick >= rules_.layout.ticks() || (rules_.survive_loss && tick >= held.limit)) {
    // At the end of life; or as good as anybody else who wants this number.
    acquire_anew();
    return acquire(moment);
  }
  // Where losses are survived, a window must not reach further than a window into the future.
  const std::int64_t begun = rules_.survive_loss ? tick : std::max(tick, moment.reached);
  const std::int64_t window = ticks_in(rules_.window);
  const std::int64_t wanted = std::min(std::max(held.limit, begun + window), rules_.layout.ticks());
  const std::int64_t spare = held.limit - begun - window / 2;
  if (wanted == held.limit || spare > 0) {
    const Duration rest = wanted == held.limit ? longest_rest : spare * Duration(rules_.layout.tick());
    return Rest{base::saturating_add(moment.boot, std::min(rest, longest_rest))};
  }
  if (moment.boot < retry_at_) return Rest{retry_at_};
  if (auto first = check_clock(moment)) return *first;
  return begin(Purpose::extend, mine_, wanted);
}

/// Whoever leaves twice, because a clock was set back and then the process ends, has issued nothing in between and may
/// not remember any more what it had issued before.
void WorkerLease::leave(std::int64_t end) { leave_at_ = std::max(leave_at_.value_or(end), end); }

void WorkerLease::leave_for_good(std::int64_t end) {
  leave(end);
  for_good_ = true;
}

// --- writing --------------------------------------------------------------------------------------------------------

WorkerLease::Step WorkerLease::begin(Purpose purpose, const Candidate& at, std::int64_t hwm) {
  pending_ = Pending{.purpose = purpose,
                     .at = at,
                     .record = {.layout = rules_.layout,
                                .hwm = hwm,
                                .since = since_,
                                .nonce = random_(),
                                .holder = purpose == Purpose::leave ? std::string() : rules_.holder}};
  return write_pending();
}

WorkerLease::Step WorkerLease::write_pending() const {
  if (pending_->purpose == Purpose::open_pool) {
    return Write{.expected = 0, .value = to_text(pool_record())};
  }
  return Write{.number = pending_->at.number, .expected = pending_->at.version, .value = to_text(pending_->record)};
}

void WorkerLease::wrote(const Reply<Written>& reply, const Moment& moment) {
  if (reply.ok()) return reply.value.written ? executed(reply.value.now.version, moment) : refused(reply.value.now);
  if (reply.code != Errc::in_doubt) {
    // It was not executed, so it may be decided again.
    if (pending_->purpose == Purpose::take) candidates_.push_back(pending_->at);
    pending_.reset();
    return failed(reply.code, reply.detail, moment);
  }
  ++counters_.doubts;
  pending_->in_doubt = true;
  failed(reply.code, reply.detail, moment);
  retry_at_ = moment.boot;
}

void WorkerLease::resolve_doubt(const Versioned& now, const Moment& moment) {
  if (pending_->purpose == Purpose::open_pool) {
    pending_.reset();
    if (now.version != 0) join(now);  // otherwise it is looked for, and written, again
    return;
  }
  const std::optional<WorkerRecord> record = parse_worker_record(now.value);
  if (record && record->nonce == pending_->record.nonce) return executed(now.version, moment);
  if (now.version != pending_->at.version) return refused(now);
  // Not executed so far. If it still will be, then not beside another write: one of the two is refused.
  if (pending_->purpose == Purpose::take) candidates_.push_back(pending_->at);
  pending_.reset();
}

void WorkerLease::executed(std::uint64_t version, const Moment& moment) {
  const Pending done = *std::exchange(pending_, std::nullopt);
  const WorkerRecord& record = done.record;
  pause_ = Duration::zero();
  if (done.purpose == Purpose::open_pool) {
    joined_ = true;
    return;
  }
  trouble_.reset();
  mine_ = {.number = done.at.number, .version = version, .hwm = record.hwm};
  switch (done.purpose) {
    case Purpose::open_pool: return;
    case Purpose::take:
      if (rules_.survive_loss) {
        const Duration wait = rules_.window + rules_.guard;
        phase_ = Phase::settling;
        settled_at_ = base::saturating_add(moment.boot, wait);
        settled_tick_ = tick_of(moment) + ticks_in(wait);
        return;
      }
      [[fallthrough]];
    case Purpose::confirm:
      phase_ = Phase::holding;
      held_ = Tenure{.serial = ++counters_.tenures, .worker = mine_.number, .start = record.since, .limit = record.hwm};
      return;
    case Purpose::extend:
      ++counters_.extensions;
      held_->limit = record.hwm;
      return;
    case Purpose::leave: acquire_anew(); return;
  }
}

void WorkerLease::refused(const Versioned& now) {
  const Pending done = *std::exchange(pending_, std::nullopt);
  switch (done.purpose) {
    case Purpose::open_pool: return join(now);
    case Purpose::take: return;  // somebody else was faster
    case Purpose::confirm:
    case Purpose::extend: ++counters_.lost; [[fallthrough]];
    case Purpose::leave: return acquire_anew();
  }
}

void WorkerLease::acquire_anew() {
  held_.reset();
  phase_ = Phase::acquiring;
  retry_at_ = Instant::min();
  check_.require();
  begin_round();
}

void WorkerLease::failed(Errc code, const std::string& detail, const Moment& moment) {
  const bool is_final = code == Errc::closed || code == Errc::forked || code == Errc::unsupported ||
                        code == Errc::invalid_argument || code == Errc::bad_url;
  std::string what =
      "taking a worker number from " + named() + ": " + (detail.empty() ? make_error_code(code).message() : detail);
  if (is_final) return fail_for_good(code, std::move(what));
  // What is in doubt here is of no concern to those who want ids.
  trouble_ = Trouble{code == Errc::in_doubt ? Errc::unreachable : code, std::move(what)};
  constexpr Duration shortest = std::chrono::milliseconds(50);
  constexpr Duration longest = std::chrono::seconds(1);
  pause_ = std::clamp(pause_ * 2, shortest, longest);
  const Duration jitter(static_cast<Duration::rep>(random_() % static_cast<std::uint64_t>(pause_.count() / 2)));
  retry_at_ = base::saturating_add(moment.boot, pause_ - jitter);
}

void WorkerLease::fail_for_good(Errc code, std::string what) {
  trouble_ = Trouble{code, std::move(what), true};
  held_.reset();
}

}  // namespace holdfast::ids
