#include "backends/sqlite/step_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sqlite {
namespace {

using base::Instant;
using spi::Failure;

constexpr auto shortest_pause = std::chrono::microseconds(50);
constexpr int most_doublings = 9;

}  // namespace

StepQueue::StepQueue(spi::Loop& loop, Executor& executor)
    : loop_(loop), executor_(executor), timer_(loop, [this] {
        give_up();
        work();
        set_timer();
      }) {}

void StepQueue::add(QueuedStep& step) {
  if (closed_) return finish_soon(step, closed_);
  waiting_.push_back(&step);
  // Whoever came before has not been served either.
  if (waiting_.size() == 1) work();
  set_timer();
}

void StepQueue::resume() {
  paused_ = false;
  work();
  set_timer();
}

void StepQueue::fail_all(const Failure& failure) {
  paused_ = false;
  for (QueuedStep* step : std::exchange(waiting_, {})) finish_soon(*step, failure);
  set_timer();
}

void StepQueue::close(const Failure& failure) {
  closed_ = failure;
  fail_all(failure);
}

void StepQueue::work() {
  using Outcome = Executor::Outcome;
  retry_at_ = Instant::max();
  while (!waiting_.empty() && !paused_) {
    const auto steps = next_batch();
    Executor::Attempt attempt = executor_.attempt(steps);
    if (attempt.outcome == Outcome::busy) return attempt_again_later();
    attempts_ = 0;
    switch (attempt.outcome) {
      case Outcome::committed: finish_first(steps.size()); break;
      case Outcome::paused: paused_ = true; break;
      case Outcome::failed: return fail_all(*attempt.failure);
      case Outcome::busy: break;
    }
  }
}

/// Those at the front that want the same kind of transaction.
std::span<QueuedStep* const> StepQueue::next_batch() {
  const auto most = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), batch));
  const auto end = std::find_if(waiting_.begin(), most, [access = waiting_.front()->access()](const QueuedStep* step) {
    return step->access() != access;
  });
  batch_.assign(waiting_.begin(), end);
  return batch_;
}

void StepQueue::finish_first(std::size_t count) {
  for (; count > 0; --count) {
    finish_soon(*waiting_.front(), std::nullopt);
    waiting_.pop_front();
  }
}

void StepQueue::finish_soon(QueuedStep& step, std::optional<Failure> failure) {
  if (!failure) return loop_.defer([&step] { step.finish(std::nullopt); });
  loop_.defer([&step, failure = std::move(failure)]() mutable { step.finish(std::move(failure)); });
}

void StepQueue::attempt_again_later() {
  const int doublings = std::min(attempts_++, most_doublings);
  // Not all processes at the same time: the clock's last digits are as good as dice.
  const auto jitter = base::BootClock::now().time_since_epoch().count() % 64;
  retry_at_ = loop_.now() + shortest_pause * (1 << doublings) * (64 + jitter) / 64;
}

void StepQueue::give_up() {
  const Instant now = loop_.now();
  std::erase_if(waiting_, [&](QueuedStep* step) {
    if (step->deadline() > now) return false;
    finish_soon(*step, executor_.why_late());
    return true;
  });
}

void StepQueue::set_timer() {
  Instant next = waiting_.empty() ? Instant::max() : retry_at_;
  for (const QueuedStep* step : waiting_) next = std::min(next, step->deadline());
  timer_.set(next);
}

}  // namespace holdfast::sqlite
