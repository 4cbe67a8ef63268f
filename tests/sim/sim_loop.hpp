#pragma once

#include <cstddef>
#include <vector>

#include "base/deadline_heap.hpp"
#include "sim/time.hpp"
#include "sim/timeline.hpp"
#include "spi/loop.hpp"

namespace holdfast::sim {

/// The loop of one simulated client: virtual time, a clock of its own, and no descriptors.
/// Nothing runs by itself: the world calls run_due() when next() has come, and drain() after whatever else it did.
class SimLoop final : public spi::Loop {
 public:
  SimLoop(const Timeline& timeline, Clock clock) : timeline_(timeline), clock_(clock) {}

  Instant now() const override { return clock_.read(timeline_.now); }
  void defer(base::Task task) override { deferred_.push_back(std::move(task)); }
  void post(base::Task task) override { defer(std::move(task)); }
  void watch(int descriptor, Ready wanted, ReadyHandler handler) override;
  void unwatch(int descriptor) override;
  void run_blocking(base::Task work, base::Task done) override;

  // For the world.

  const Clock& clock() const { return clock_; }
  /// When a timer is due.
  Moment next() const {
    if (stale_) {
      next_ = timers_.empty() ? never : clock_.when(timers_.next());
      stale_ = false;
    }
    return next_;
  }
  void run_due();
  /// Runs what was deferred, until nothing is.
  void drain();

  std::size_t armed_timers() const { return timers_.size(); }
  int expectations() const { return expectations_; }

 private:
  void arm(spi::Timer& timer) override {
    timers_.push(timer);
    stale_ = true;
  }
  void disarm(spi::Timer& timer) override {
    timers_.erase(timer);
    stale_ = true;
  }
  void expect(bool /*by_user*/, int change) override { expectations_ += change; }

  const Timeline& timeline_;
  const Clock clock_;
  base::DeadlineHeap<spi::Timer> timers_;
  std::vector<base::Task> deferred_;
  std::vector<base::Task> running_;
  mutable Moment next_ = never;
  mutable bool stale_ = false;
  int expectations_ = 0;
};

}  // namespace holdfast::sim
