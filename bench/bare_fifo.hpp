#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

namespace holdfast::bench {

/// The plainest fair lock of one process, as a peer: threads are served strictly in the order in which they came, each
/// is handed the lock by the one before it, and sleeps on a condition variable of its own until then.
class BareFifo {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    if (!held_) {
      held_ = true;
      return;
    }
    Waiter& me = waiter();
    line_.push_back(&me);
    me.woken.wait(guard, [&] { return me.served; });
    me.served = false;
    idle_.push_back(&me);
  }

  void unlock() {
    Waiter* next = nullptr;
    {
      const std::scoped_lock guard(mutex_);
      if (line_.empty()) {
        held_ = false;
        return;
      }
      next = line_.front();
      line_.pop_front();
      next->served = true;
    }
    next->woken.notify_one();  // outside the mutex, which the woken thread wants first of all
  }

 private:
  struct Waiter {
    std::condition_variable woken;
    bool served = false;
  };

  /// They belong to the lock and not to the thread, so that a late notify_one() finds one: at worst it wakes another
  /// thread for nothing.
  Waiter& waiter() {
    if (idle_.empty()) return waiters_.emplace_back();
    Waiter& reused = *idle_.back();
    idle_.pop_back();
    return reused;
  }

  std::mutex mutex_;
  bool held_ = false;
  std::deque<Waiter*> line_;
  std::deque<Waiter> waiters_;
  std::deque<Waiter*> idle_;
};

}  // namespace holdfast::bench
