// How a worker number is found: in random order, because many processes that start together and begin at number 0
// would meet at every number; and 16 at a time, because one after the other takes too long when most are taken.

#include <algorithm>
#include <numeric>
#include <utility>

#include "ids/worker_lease.hpp"

namespace holdfast::ids {

using base::Duration;
using base::Instant;

namespace {

constexpr std::size_t batch = 16;

/// The first reply without an answer.
const Reply<Versioned>* failure_in(const std::vector<Reply<Versioned>>& replies) {
  const auto found = std::ranges::find_if(replies, [](const auto& reply) { return !reply.ok(); });
  return found == replies.end() ? nullptr : &*found;
}

}  // namespace

WorkerLease::Step WorkerLease::acquire(const Moment& moment) {
  const std::int64_t tick = tick_of(moment);
  if (std::max(tick, moment.reached) >= rules_.layout.ticks()) {
    fail_for_good(Errc::end_of_life, "the ids of " + named() + " have come to their end: the layout " +
                                         to_string(rules_.layout) + " has no later time");
    return Over{};
  }
  if (moment.boot < retry_at_) return Rest{retry_at_};
  if (check_.witness()) {
    if (auto first = check_clock(moment)) return *first;
  }
  if (!joined_ || candidates_.empty()) {
    if (order_.empty()) joined_ ? end_round(moment) : begin_round();
    if (moment.boot < retry_at_) return Rest{retry_at_};
    return look_at_more_numbers();
  }
  if (check_.is_due() && !rules_.store_has_clock) {  // the others are the witnesses: look at them again
    begin_round();
    return look_at_more_numbers();
  }
  if (auto first = check_clock(moment)) return *first;

  const Candidate chosen = candidates_.back();
  candidates_.pop_back();
  since_ = std::max({tick, chosen.hwm, moment.reached, std::int64_t{0}});
  const std::int64_t hwm = std::min(since_ + ticks_in(rules_.window), rules_.layout.ticks());
  return begin(Purpose::take, chosen, hwm);
}

std::optional<WorkerLease::Step> WorkerLease::check_clock(const Moment& moment) {
  if (!check_.is_due()) return std::nullopt;
  if (moment.boot < retry_at_) return Rest{retry_at_};
  if (rules_.store_has_clock) return look(Asked::clock, {.clock = true});
  if (const auto& witness = check_.witness()) {
    if (moment.boot < check_.look_again_at()) return Rest{check_.look_again_at()};
    return look(Asked::witness, {.numbers = {witness->number}});
  }
  if (order_.empty()) begin_round();
  Look others;
  for (std::size_t i = 0; i < std::min(batch, order_.size()); ++i) {
    if (order_[i] != mine_.number) others.numbers.push_back(order_[i]);
  }
  looked_at_ = others.numbers;
  return look(Asked::clock, std::move(others));
}

WorkerLease::Step WorkerLease::look(Asked asked, Look what) {
  asked_ = asked;
  return what;
}

/// With what has to be known besides, so that a process that starts needs one round trip to look and one to take.
WorkerLease::Step WorkerLease::look_at_more_numbers() {
  const auto first = order_.end() - static_cast<std::ptrdiff_t>(std::min(batch, order_.size()));
  looked_at_.assign(first, order_.end());
  order_.erase(first, order_.end());
  return look(Asked::numbers,
              {.pool = !joined_, .clock = rules_.store_has_clock && check_.is_due(), .numbers = looked_at_});
}

void WorkerLease::looked(Looked looked, const Moment& moment) {
  if (asked_ == Asked::doubt) {
    const bool is_pool = pending_->purpose == Purpose::open_pool;
    const Reply<Versioned>& reply = is_pool ? looked.pool : looked.numbers.front();
    return reply.ok() ? resolve_doubt(reply.value, moment) : failed(reply.code, reply.detail, moment);
  }
  const Reply<Versioned>* failure = failure_in(looked.numbers);
  if (failure == nullptr && !looked.pool.ok()) failure = &looked.pool;
  if (failure != nullptr || !looked.clock.ok()) {
    if (asked_ == Asked::numbers) order_.insert(order_.end(), looked_at_.begin(), looked_at_.end());
    if (failure == nullptr) return failed(looked.clock.code, looked.clock.detail, moment);
    return failed(failure->code, failure->detail, moment);
  }
  pause_ = Duration::zero();
  if (looked.clock.value) judge(check_.compare(moment.wall, *looked.clock.value), moment);
  if (asked_ == Asked::witness) {
    ClockCheck::Witness now = *check_.witness();
    if (const auto record = parse_worker_record(looked.numbers.front().value.value)) {
      now.version = looked.numbers.front().value.version;
      now.window_ends = rules_.layout.time_of(record->hwm);
    }
    return judge(check_.compare_again(moment.wall, now), moment);
  }
  if (!joined_ && asked_ == Asked::numbers) {
    if (looked.pool.value.version == 0) {
      pending_ = Pending{.purpose = Purpose::open_pool};
    } else {
      join(looked.pool.value);
    }
  }
  sort_numbers(looked.numbers, moment);
}

/// Processes that survive losses rely on all others to do so, too.
PoolRecord WorkerLease::pool_record() const {
  PoolRecord record = {.layout = rules_.layout, .workers = rules_.workers, .window = rules_.window};
  if (rules_.survive_loss) record.guard = rules_.guard;
  return record;
}

void WorkerLease::join(const Versioned& pool) {
  const std::optional<PoolRecord> record = parse_pool_record(pool.value);
  if (!record) {
    return fail_for_good(Errc::store_failed,
                         "the register 'id/" + rules_.pool + "' does not describe a pool of worker numbers");
  }
  joined_ = *record == pool_record();
  if (joined_) return;
  fail_for_good(Errc::invalid_argument, named() + " has " + described(*record) + ", but this process was told " +
                                            described(pool_record()) + "; their ids would collide");
}

void WorkerLease::sort_numbers(const std::vector<Reply<Versioned>>& numbers, const Moment& moment) {
  const std::int64_t tick = tick_of(moment);
  const std::int64_t guard = rules_.survive_loss ? ticks_in(rules_.guard) : 0;
  // Further ahead than any clock that is right would reserve.
  const std::int64_t too_late = tick + ticks_in(rules_.window) + ticks_in(rules_.max_ahead) + guard;
  std::optional<ClockCheck::Witness> newest;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Versioned& stored = numbers[i].value;
    const std::optional<WorkerRecord> record = parse_worker_record(stored.value);
    if (record && record->layout != rules_.layout) {
      return fail_for_good(Errc::invalid_argument, "a worker number of " + named() + " was used with the layout " +
                                                       to_string(record->layout) + ", but this process was told " +
                                                       to_string(rules_.layout) + "; their ids would collide");
    }
    const bool unreadable = stored.version != 0 && !record;
    const std::int64_t hwm = record ? record->hwm : 0;
    if (unreadable || hwm > too_late) {
      if (asked_ == Asked::numbers) ++counters_.poisoned;
      continue;
    }
    if (record && (!newest || rules_.layout.time_of(hwm) > newest->window_ends)) {
      newest = {.number = looked_at_[i], .version = stored.version, .window_ends = rules_.layout.time_of(hwm)};
    }
    if (asked_ != Asked::numbers) continue;
    if (hwm + guard <= tick) {
      candidates_.push_back({looked_at_[i], stored.version, hwm});
    } else {
      first_free_at_ = std::min(hwm + guard, first_free_at_.value_or(hwm + guard));
    }
  }
  if (!rules_.store_has_clock && check_.is_due()) judge(check_.compare(moment.wall, moment.boot, newest), moment);
}

void WorkerLease::judge(ClockCheck::Verdict verdict, const Moment& moment) {
  constexpr Duration pause = std::chrono::seconds(1);
  if (verdict != ClockCheck::Verdict::refused) return;
  trouble_ = Trouble{Errc::wrong_clock, "taking a worker number from " + named() + ": this host's clock is ahead of " +
                                            (rules_.store_has_clock ? "the store's" : "those of other hosts") +
                                            "; set it right"};
  retry_at_ = base::saturating_add(moment.boot, pause);
  candidates_.clear();
}

void WorkerLease::begin_round() {
  candidates_.clear();
  first_free_at_.reset();
  counters_.poisoned = 0;
  order_.resize(rules_.workers);
  std::iota(order_.begin(), order_.end(), 0U);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
}

/// All numbers were looked at, and none could be had.
void WorkerLease::end_round(const Moment& moment) {
  constexpr Duration shortest = std::chrono::milliseconds(20);
  constexpr Duration longest = std::chrono::seconds(1);
  if (tick_of(moment) < 0) {
    trouble_ = Trouble{Errc::wrong_clock, "this host's clock is before the epoch of the layout " +
                                              to_string(rules_.layout) + "; set it right"};
  } else {
    std::string what = "all " + std::to_string(rules_.workers) + " numbers of " + named() + " are in use";
    if (counters_.poisoned > 0) {
      what += ", " + std::to_string(counters_.poisoned) +
              " of them reserved for a long time by a clock that was wrong, or unreadable";
    }
    trouble_ = Trouble{Errc::exhausted, std::move(what)};
  }
  const std::int64_t ticks = first_free_at_ ? *first_free_at_ - tick_of(moment) : 0;
  const Duration until_free = std::min<std::int64_t>(ticks, ticks_in(longest)) * Duration(rules_.layout.tick());
  retry_at_ = base::saturating_add(moment.boot, std::clamp(until_free, shortest, longest));
  begin_round();
}

}  // namespace holdfast::ids
