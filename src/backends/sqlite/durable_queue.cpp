#include "backends/sqlite/durable_queue.hpp"

#include <algorithm>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {

using spi::Failure;

DurableQueue::DurableQueue(spi::Loop& loop, std::string path, Machine machine)
    : loop_(loop),
      side_(std::make_shared<DurableSide>(std::move(path), std::move(machine))),
      timer_(loop, [this] { give_up(); }) {}

void DurableQueue::add(std::shared_ptr<Job> job) {
  waiting_.push_back(std::move(job));
  start_next();
  set_timer();
}

void DurableQueue::close(const Failure& failure) {
  timer_.cancel();
  if (running_) waiting_.push_front(std::exchange(running_, nullptr));
  for (auto& job : std::exchange(waiting_, {})) answer_soon(std::move(job), failure);
}

void DurableQueue::start_next() {
  if (busy_ || waiting_.empty()) return;
  busy_ = true;
  running_ = std::move(waiting_.front());
  waiting_.pop_front();
  auto failure = std::make_shared<std::optional<Failure>>();
  auto work = [side = side_, job = running_, failure]() mutable {
    try {
      job->execute(*side);
    } catch (const Refusal& refusal) {
      *failure = refusal.failure();
    }
    job.reset();  // what it holds belongs to the monitor, and must end there
  };
  auto done = [this, job = running_, failure, here = lifetime_.watch()]() mutable {
    if (here.lasts()) finished(std::move(job), std::move(*failure));
  };
  loop_.run_blocking(std::move(work), std::move(done));
}

void DurableQueue::finished(std::shared_ptr<Job> job, std::optional<Failure> failure) {
  busy_ = false;
  const bool unanswered = std::exchange(running_, nullptr) != nullptr;
  if (unanswered) answer_soon(std::move(job), std::move(failure));
  start_next();
  set_timer();
}

/// Not at once: whoever hears it may end this object.
void DurableQueue::answer_soon(std::shared_ptr<Job> job, std::optional<Failure> failure) {
  loop_.defer([job = std::move(job), failure = std::move(failure)]() mutable { job->answer(std::move(failure)); });
}

void DurableQueue::give_up() {
  const base::Instant now = loop_.now();
  if (running_ && running_->deadline() <= now) {
    answer_soon(std::exchange(running_, nullptr),
                Failure{Errc::in_doubt, "the disk has not confirmed the write in time"});
  }
  std::erase_if(waiting_, [&](auto& job) {
    if (job->deadline() > now) return false;
    answer_soon(std::move(job), Failure{Errc::unreachable, "the disk is still busy with earlier writes"});
    return true;
  });
  set_timer();
}

void DurableQueue::set_timer() {
  base::Instant next = running_ ? running_->deadline() : base::Instant::max();
  for (const auto& job : waiting_) next = std::min(next, job->deadline());
  timer_.set(next);
}

}  // namespace holdfast::sqlite
