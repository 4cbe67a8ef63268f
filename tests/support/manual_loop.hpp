#pragma once

#include <deque>
#include <mutex>
#include <utility>

#include "base/deadline_heap.hpp"
#include "spi/loop.hpp"

namespace holdfast::test {

/// A loop that does nothing by itself: the test says when time passes and when tasks run. Blocking work runs inside
/// run() as well; descriptors are not watched (polling_loop.hpp does that). All but post() belongs to one thread.
class ManualLoop : public spi::Loop {
 public:
  base::Instant now() const override { return now_; }

  void defer(base::Task task) override { tasks_.push_back(std::move(task)); }
  void post(base::Task task) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  void watch(int, Ready, ReadyHandler) override {}
  void unwatch(int) override {}
  void run_blocking(base::Task work, base::Task done) override {
    defer(std::move(work));
    defer(std::move(done));
  }

  /// Runs what is due now, and what that leads to. True if there was anything.
  bool run() {
    bool any = false;
    while (run_one()) any = true;
    return any;
  }

  /// Lets time pass while nothing runs, as if the process were stopped.
  void pause(base::Duration duration) { now_ += duration; }

  /// Lets time pass, stopping at each timer on the way.
  void advance(base::Duration duration) {
    const base::Instant end = now_ + duration;
    run();
    while (timers_.next() <= end) {
      now_ = timers_.next();
      run();
    }
    now_ = end;
  }

 private:
  void arm(spi::Timer& timer) override { timers_.push(timer); }
  void disarm(spi::Timer& timer) override { timers_.erase(timer); }
  void expect(bool, int) override {}

  bool run_one() {
    {
      const std::lock_guard lock(mutex_);
      for (; !posted_.empty(); posted_.pop_front()) tasks_.push_back(std::move(posted_.front()));
    }
    if (timers_.next() <= now_) {  // all that are due before any task, as in the monitor
      spi::Timer& timer = timers_.top();
      timers_.erase(timer);
      timer.fire();
      return true;
    }
    if (tasks_.empty()) return false;
    base::Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }

  base::Instant now_ = base::Instant(std::chrono::hours(1));
  std::deque<base::Task> tasks_;
  base::DeadlineHeap<spi::Timer> timers_;
  std::mutex mutex_;
  std::deque<base::Task> posted_;
};

}  // namespace holdfast::test
