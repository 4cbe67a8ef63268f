#include "backends/sqlite/durable_queue.hpp"

#include <algorithm>
#include <utility>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {

DurableQueue::DurableQueue(spi::Loop& loop, std::string path, Host host)
    : loop_(loop),
      side_(std::make_shared<DurableSide>(std::move(path), std::move(host))),
      timer_(loop, [this] { give_up(); }),
      self_(std::make_shared<DurableQueue*>(this)) {}

DurableQueue::~DurableQueue() { *self_ = nullptr; }

void DurableQueue::add(std::shared_ptr<DurableOperation> operation) {
  waiting_.push_back(std::move(operation));
  start_next();
  set_timer();
}

void DurableQueue::close(const spi::Failure& failure) {
  timer_.cancel();
  if (running_) waiting_.push_front(std::exchange(running_, nullptr));
  for (auto& operation : std::exchange(waiting_, {})) {
    loop_.defer([operation = std::move(operation), failure] { operation->fail(failure); });
  }
}

void DurableQueue::start_next() {
  if (busy_ || waiting_.empty()) return;
  busy_ = true;
  running_ = std::move(waiting_.front());
  waiting_.pop_front();
  auto failure = std::make_shared<std::optional<spi::Failure>>();
  auto work = [side = side_, operation = running_, failure]() mutable {
    try {
      operation->execute(*side);
    } catch (const Refusal& refusal) {
      *failure = refusal.failure();
    }
    operation.reset();  // what it holds belongs to the monitor, and must end there
  };
  auto done = [self = self_, operation = running_, failure] {
    if (*self != nullptr) (*self)->finished(operation, *failure);
  };
  loop_.run_blocking(std::move(work), std::move(done));
}

void DurableQueue::finished(const std::shared_ptr<DurableOperation>& operation,
                            const std::optional<spi::Failure>& failure) {
  busy_ = false;
  const bool unanswered = std::exchange(running_, nullptr) != nullptr;
  if (unanswered && failure) operation->fail(*failure);
  if (unanswered && !failure) operation->answer();
  start_next();
  set_timer();
}

void DurableQueue::give_up() {
  const base::Instant now = loop_.now();
  if (running_ && running_->deadline() <= now) {
    std::exchange(running_, nullptr)->fail({Errc::in_doubt, "the disk has not confirmed the write in time"});
  }
  std::erase_if(waiting_, [&](const auto& operation) {
    if (operation->deadline() > now) return false;
    operation->fail({Errc::unreachable, "the disk is still busy with earlier writes"});
    return true;
  });
  set_timer();
}

void DurableQueue::set_timer() {
  base::Instant next = running_ ? running_->deadline() : base::Instant::max();
  for (const auto& operation : waiting_) next = std::min(next, operation->deadline());
  timer_.set(next);
}

}  // namespace holdfast::sqlite
