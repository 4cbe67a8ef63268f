#pragma once

#include <cstddef>

#include "spi/vocabulary.hpp"

namespace holdfast::spi {

class Timer;

/// Where a client's code runs: one thing at a time, under the client's monitor, on a clock and timers of its own.
///
/// Two implementations: core/monitor (real threads, epoll, timerfd) and the simulation's (virtual time, one thread).
/// Everything but post() is called under the monitor, and everything given to it runs under the monitor.
class Loop {
 public:
  /// What a watched descriptor is ready for.
  struct Ready {
    bool readable = false;
    bool writable = false;
  };
  using ReadyHandler = Callback<void(Ready)>;

  virtual ~Loop() = default;

  virtual Instant now() const = 0;

  /// Runs `task` soon, in order, but never inside this call.
  virtual void defer(Task task) = 0;

  /// The same from anywhere: another thread, another client's monitor. The one function that is not under the monitor,
  /// and it never enters it: two clients may post to each other from inside theirs.
  virtual void post(Task task) = 0;

  /// Calls `handler` while `descriptor` is ready for what is wanted, until unwatch(). Watching again replaces.
  /// Readiness may be reported more than once: read until there is nothing left. Unwatch before closing: a forked child
  /// may keep the description, and with it the registration, alive. Throws Error (Errc::exhausted).
  virtual void watch(int descriptor, Ready wanted, ReadyHandler handler) = 0;
  virtual void unwatch(int descriptor) = 0;

  /// Runs `work` on a thread that may block (resolving names, syncing files), then `done` under the monitor.
  /// If the loop ends first, `done` is destroyed without being run.
  virtual void run_blocking(Task work, Task done) = 0;

 protected:
  friend class Timer;
  friend class Expectation;
  virtual void arm(Timer& timer) = 0;
  virtual void disarm(Timer& timer) = 0;
  virtual void expect(bool by_user, int change) = 0;
};

/// One future event of one owner. Armed at most once at a time; disarmed when destroyed.
class Timer {
 public:
  /// Small, because every lock that is held has some.
  using OnDue = Callback<void(), 2 * sizeof(void*)>;

  /// `on_due` runs each time the timer comes due. REQUIRES: `loop` outlives the timer.
  Timer(Loop& loop, OnDue on_due) : loop_(loop), on_due_(std::move(on_due)) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Due at `instant`, instead of when it was due before. Instant::max() is never.
  void set(Instant instant) {
    if (armed() && instant == due_) return;
    cancel();
    if (instant == Instant::max()) return;
    due_ = instant;
    loop_.arm(*this);
  }
  void cancel() {
    if (armed()) loop_.disarm(*this);
  }
  bool armed() const { return queue_index != not_queued; }
  Instant due() const { return due_; }

  // For the loop.
  static constexpr std::size_t not_queued = static_cast<std::size_t>(-1);
  void fire() { on_due_(); }
  std::size_t queue_index = not_queued;

 private:
  Loop& loop_;
  Instant due_ = {};
  OnDue on_due_;
};

/// While one exists, the loop reads what the store sends: for a user who waits (then the waiting thread itself may do
/// the reading), or for the client's own upkeep (then it never depends on a user's thread).
class Expectation {
 public:
  enum class Of { user, upkeep };

  Expectation(Loop& loop, Of of) : loop_(loop), of_(of) { loop_.expect(of_ == Of::user, +1); }
  ~Expectation() { loop_.expect(of_ == Of::user, -1); }
  Expectation(const Expectation&) = delete;
  Expectation& operator=(const Expectation&) = delete;

 private:
  Loop& loop_;
  Of of_;
};

}  // namespace holdfast::spi
