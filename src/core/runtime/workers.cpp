#include "core/runtime/workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals_blocked.hpp"

namespace holdfast::core {
namespace {

constexpr std::chrono::seconds idle_thread_ends_after{5};

/// The pool whose task this thread is running, if any.
thread_local const void* working_for = nullptr;

}  // namespace

struct Workers::Shared : std::enable_shared_from_this<Workers::Shared> {
  std::mutex mutex;
  std::condition_variable work_or_stop;
  std::condition_variable thread_ended;
  std::deque<base::Task> tasks;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool stopping = false;

  /// REQUIRES: the mutex is held.
  void start_thread() {
    const base::SignalsBlocked signals_blocked;
    try {
      std::thread([self = shared_from_this()] { self->work(); }).detach();
      ++threads;
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): it has its reason
      // No thread to be had: the task waits for one that exists, or for the next attempt.
    }
  }

  void work() {
    working_for = this;
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      const bool woken =
          work_or_stop.wait_for(lock, idle_thread_ends_after, [&] { return stopping || !tasks.empty(); });
      --idle;
      if (tasks.empty() && (stopping || !woken)) break;
      base::Task task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      task.reset();
      lock.lock();
    }
    --threads;
    thread_ended.notify_all();
  }
};

Workers::Workers() : shared_(std::make_shared<Shared>()) {}

Workers::~Workers() { stop(std::chrono::nanoseconds::zero()); }

void Workers::run(base::Task task) {
  const std::scoped_lock lock(shared_->mutex);
  if (shared_->stopping) return;
  shared_->tasks.push_back(std::move(task));
  if (shared_->tasks.size() > shared_->idle && shared_->threads < max_threads) shared_->start_thread();
  shared_->work_or_stop.notify_one();
}

void Workers::stop(std::chrono::nanoseconds patience) {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->work_or_stop.notify_all();
  const std::size_t me = working_for == shared_.get() ? 1 : 0;
  const auto longest = std::min<std::chrono::nanoseconds>(patience, std::chrono::hours(24 * 365));  // no overflow
  shared_->thread_ended.wait_for(lock, longest, [&] { return shared_->threads <= me; });
}

}  // namespace holdfast::core
