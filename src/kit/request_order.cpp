#include "kit/request_order.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::kit {

// --- a place -------------------------------------------------------------------------------------------------------

RequestOrder::Place::Place(RequestOrder& order, std::string name, std::shared_ptr<Entry> entry)
    : order_(&order), name_(std::move(name)), entry_(std::move(entry)) {}

RequestOrder::Place::Place(Place&& other) noexcept
    : order_(std::exchange(other.order_, nullptr)), name_(std::move(other.name_)), entry_(std::move(other.entry_)) {}

void RequestOrder::Place::leave() {
  if (order_ != nullptr) std::exchange(order_, nullptr)->leave(name_, entry_);
}

bool RequestOrder::Place::await_ready() const noexcept { return entry_->may_run || order_->closed_; }

void RequestOrder::Place::await_suspend(std::coroutine_handle<> waiter) const noexcept { entry_->waiter = waiter; }

// --- the queues ----------------------------------------------------------------------------------------------------

RequestOrder::Place RequestOrder::enter(std::string name, std::optional<spi::ClaimId> releases,
                                        std::optional<spi::ClaimId> replaces) {
  auto entry = std::make_shared<Entry>();
  entry->releases = releases;
  if (!closed_) {
    Queue& queue = queues_[name];
    entry->may_run = std::ranges::all_of(
        queue, [&](const auto& ahead) { return replaces && ahead->releases == replaces && ahead->may_run; });
    queue.push_back(entry);
  }
  return {*this, std::move(name), std::move(entry)};
}

void RequestOrder::leave(const std::string& name, const std::shared_ptr<Entry>& entry) {
  const auto found = queues_.find(name);
  if (found == queues_.end()) return;  // closed
  Queue& queue = found->second;
  queue.erase(std::ranges::find(queue, entry));
  if (queue.empty()) {
    queues_.erase(found);
    return;
  }
  const std::shared_ptr<Entry>& next = queue.front();
  if (std::exchange(next->may_run, true) || !next->waiter) return;
  to_resume_.push_back(next);
  if (loop_ == nullptr) return resume_all();
  loop_->defer([this, here = lifetime_.watch()] {
    if (here.lasts()) resume_one();
  });
}

void RequestOrder::resume_one() {
  if (to_resume_.empty()) return;  // closed
  const std::shared_ptr<Entry> next = std::move(to_resume_.front());
  to_resume_.pop_front();
  if (const auto waiter = std::exchange(next->waiter, {})) waiter.resume();
}

void RequestOrder::resume_all() {
  if (std::exchange(resuming_, true)) return;
  const base::Lifetime::Watch here = lifetime_.watch();
  while (!to_resume_.empty()) {
    resume_one();
    if (!here.lasts()) return;
  }
  resuming_ = false;
}

void RequestOrder::close() {
  closed_ = true;
  to_resume_.clear();
  for (const auto& [name, queue] : std::exchange(queues_, {})) {
    for (const std::shared_ptr<Entry>& entry : queue) {
      if (const auto waiter = std::exchange(entry->waiter, {})) waiter.resume();
    }
  }
}

}  // namespace holdfast::kit
