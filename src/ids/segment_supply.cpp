#include "ids/segment_supply.hpp"

#include <algorithm>

namespace holdfast::ids {
namespace {

constexpr auto first_pause = std::chrono::milliseconds(10);
constexpr auto longest_pause = std::chrono::seconds(1);
constexpr std::uint64_t strides = 16;  ///< in a segment
constexpr std::uint64_t largest_chunk = 4096;

/// What no later request can mend.
bool is_final(Errc code) noexcept { return code == Errc::end_of_life || code == Errc::closed || code == Errc::forked; }

}  // namespace

SegmentSupply::SegmentSupply(std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source,
                             const StepRule::Bounds& bounds, Clock clock)
    : counter_(std::move(counter)),
      source_(std::move(source)),
      clock_(std::move(clock)),
      window_(&memory_.make<SegmentWindow>()),
      rule_(bounds) {}

SegmentSupply::~SegmentSupply() = default;

std::optional<Failure> SegmentSupply::why_not_here() const {
  if (is_here()) return std::nullopt;
  return Failure{Errc::forked, "the numbers of " + counter_->name +
                                   " belong to the parent process; a forked child opens a "
                                   "client and a generator of its own"};
}

std::optional<std::uint64_t> SegmentSupply::try_take(std::uint64_t count) {
  if (why_not_here()) return std::nullopt;
  std::unique_lock lock(mutex_);
  const auto first = at_hand(count);
  const auto due = begin_refill(first ? 1 : count, false);
  lock.unlock();
  if (due) refill(*due);
  return first;
}

std::optional<Answer<std::uint64_t>> SegmentSupply::take(std::uint64_t count, base::Instant deadline,
                                                         const std::stop_token& stop, bool through_outages) {
  if (auto why = why_not_here()) return *std::move(why);
  if (stop.stop_requested()) return cancelled();
  std::unique_lock lock(mutex_);
  const std::uint64_t failures_before = failures_;
  for (bool waits = false;;) {
    const auto first = at_hand(count);
    const bool failed = failures_ != failures_before;
    const bool gives_up =
        !first && failure_ &&
        (is_final(failure_->code) || (failed && !(through_outages && is_worth_repeating(failure_->code))));
    if (gives_up) return *failure_;
    if (const auto due = begin_refill(first ? 1 : count, !first && !failed)) {
      lock.unlock();
      refill(*due);
      if (first) return *first;
      lock.lock();
      continue;
    }
    if (first) return *first;
    if (!std::exchange(waits, true)) ++waits_;
    somebody_waits_ = true;
    const base::Instant until = refilling_ ? deadline : std::min(deadline, retry_at_);
    const auto answered = [this, before = answers_] { return answers_ != before; };
    if (until == base::Instant::max()) {
      changed_.wait(lock, stop, answered);
    } else {
      changed_.wait_until(lock, stop, until, answered);
    }
    if (stop.stop_requested()) return cancelled();
    if (clock_() >= deadline) {
      if (const auto last = at_hand(count)) return *last;
      return std::nullopt;
    }
  }
}

void SegmentSupply::take_later(const std::shared_ptr<CalledOnce<std::uint64_t>>& caller) {
  if (auto why = why_not_here()) return caller->answer(*std::move(why));
  std::unique_lock lock(mutex_);
  const auto first = callers_.empty() ? at_hand(1) : std::nullopt;
  const auto due = begin_refill(1, !first);
  const bool is_over = !first && !due && !refilling_;  // then failure_ says why
  if (!first && !is_over) {
    callers_.push_back(caller);
    ++waits_;
    somebody_waits_ = true;
  }
  const auto why = is_over ? failure_ : std::nullopt;
  lock.unlock();
  if (due) refill(*due);
  if (first) caller->answer(*first);
  if (is_over) caller->answer(*why);
}

void SegmentSupply::burn(std::uint64_t count) noexcept { dropped_ += count; }

SegmentMetrics SegmentSupply::metrics() const {
  SegmentMetrics metrics = {.counter = counter_->metrics()};
  if (why_not_here()) return metrics;
  const std::scoped_lock lock(mutex_);
  metrics.at_hand = left() + (next_ ? static_cast<std::uint64_t>(next_->size()) : 0);
  metrics.step = static_cast<std::uint64_t>(rule_.step());
  if (rule_.rate() > 0) {
    const double seconds = std::min(static_cast<double>(metrics.at_hand) / rule_.rate(), 1e9);
    metrics.lasts_for = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  }
  metrics.refills = answers_ - failures_;
  metrics.waits = waits_;
  metrics.counter.burnt += dropped_;
  metrics.counter.issued = obtained_ - metrics.at_hand - dropped_;
  return metrics;
}

std::uint64_t SegmentSupply::left() const noexcept {
  const std::uint64_t next = window_->next();
  return next < segment_end_ ? segment_end_ - next : 0;
}

std::optional<std::uint64_t> SegmentSupply::at_hand(std::uint64_t count) {
  for (;;) {
    if (const auto first = window_->take(count)) return first;
    const std::uint64_t next = window_->next();
    if (next <= segment_end_ && segment_end_ - next >= count) {
      window_->open_until(std::min(segment_end_, std::max(window_->end() + stride_, next + count)));
      continue;
    }
    if (!next_ || static_cast<std::uint64_t>(next_->size()) < count) return std::nullopt;
    change_segment();
  }
}

void SegmentSupply::change_segment() {
  const Numbers numbers = *std::exchange(next_, std::nullopt);
  const auto first = static_cast<std::uint64_t>(numbers.first);
  const std::uint64_t next = window_->go_on_at(first);
  if (next < segment_end_) burn(segment_end_ - next);
  segment_end_ = static_cast<std::uint64_t>(numbers.end);
  stride_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(numbers.size()) / strides, 1);
  chunk_ = std::clamp<std::uint64_t>(stride_ / strides, 1, largest_chunk);
  used_ += static_cast<std::uint64_t>(numbers.size());
  window_->open_until(first + std::min(stride_, segment_end_ - first));
}

std::optional<SegmentSupply::Refill> SegmentSupply::begin_refill(std::uint64_t wanted, bool at_once) {
  const bool has_room = !next_ || static_cast<std::uint64_t>(next_->size()) < wanted;
  if (refilling_ || !has_room) return std::nullopt;
  if (failure_ && is_final(failure_->code)) return std::nullopt;
  const base::Instant now = clock_();
  if (failure_ && !at_once && now < retry_at_) return std::nullopt;
  refilling_ = true;
  refill_began_ = now;
  // A request that is repeated says nothing about the rate.
  const std::int64_t step =
      failure_ ? rule_.step() : rule_.next(now, static_cast<std::int64_t>(used_ - left()), somebody_waits_);
  somebody_waits_ = false;
  // Whoever waits for many is not overtaken by those who take one, if there are some for them as well.
  const auto at_least = static_cast<std::int64_t>(wanted);
  return Refill{wanted == 1 ? step : step + std::min(at_least, Counter::largest_last - step), at_least};
}

void SegmentSupply::refill(const Refill& refill) {
  take_numbers(counter_, source_, refill.count, refill.at_least)
      .start([self = shared_from_this()](Answer<Numbers> answer) { self->refilled(std::move(answer)); });
}

void SegmentSupply::refilled(Answer<Numbers> answer) {
  std::unique_lock lock(mutex_);
  const base::Instant now = clock_();
  refilling_ = false;
  ++answers_;
  if (answer.ok()) {
    const Numbers numbers = answer.value();
    rule_.answered_after(now - refill_began_);
    obtained_ += static_cast<std::uint64_t>(numbers.size());
    if (next_) burn(static_cast<std::uint64_t>(next_->size()));  // it was smaller than what somebody waits for
    next_ = numbers;
    failure_.reset();
    pause_ = first_pause;
  } else {
    ++failures_;
    failure_ = std::move(answer.failure());
    pause_ = std::clamp<base::Duration>(pause_ * 2, first_pause, longest_pause);
    retry_at_ = base::saturating_add(now, pause_);
  }
  Calls calls = served();
  const bool waits = !callers_.empty();
  const auto due = begin_refill(1, waits);
  lock.unlock();
  changed_.notify_all();
  for (auto& [caller, its_answer] : calls) caller->answer(std::move(its_answer));
  if (due) refill(*due);
}

SegmentSupply::Calls SegmentSupply::served() {
  Calls calls;
  while (!callers_.empty()) {
    if (callers_.front()->is_called()) {
      callers_.pop_front();
      continue;
    }
    const auto first = at_hand(1);
    if (!first && !failure_) break;
    calls.emplace_back(std::move(callers_.front()),
                       first ? Answer<std::uint64_t>(*first) : Answer<std::uint64_t>(*failure_));
    callers_.pop_front();
  }
  return calls;
}

}  // namespace holdfast::ids
