#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/deadline_heap.hpp"
#include "base/file_descriptor.hpp"
#include "base/intrusive_list.hpp"
#include "core/runtime/parker.hpp"
#include "core/runtime/posted_tasks.hpp"
#include "core/runtime/workers.hpp"
#include "spi/loop.hpp"

namespace holdfast::core {

/// The loop of a real program: one mutex guards all state of a client, and any thread may enter.
///
/// A thread that waits for the store does the reading itself, so that an uncontended lock() costs no thread hop.
/// Reading is a *role* that at most one waiting thread has; when it leaves, it summons another. The role is a hint and
/// not a right: a background thread owns the timers, reads for the client's own upkeep whoever has the role, and reads
/// for everybody while no blocked thread is there to do it. So renewals never depend on a user's thread.
///
/// Who reads (polls the shared epoll set):
/// | somebody waits for the store      | who                                                   |
/// |-----------------------------------|-------------------------------------------------------|
/// | a blocked thread                  | that thread, or another blocked one                   |
/// | only asynchronous callers         | the background thread                                 |
/// | renewals are under way            | the background thread, and whoever else reads         |
/// Threads that wait for another thread of the same client sleep on their Parker and read nothing.
///
/// A std::mutex is not fair, and a crowd of busy threads could keep the background thread out for longer than a lease.
/// So while it waits for the mutex, nobody else joins the crowd: they wait for a mutex in front of it.
class Monitor final : public spi::Loop {
 public:
  /// A thread that is blocked inside the monitor, or about to be.
  class Waiter : public base::ListNode<Waiter> {
   private:
    friend class Monitor;
    enum class State { running, parked, summoned, reading };
    State state_ = State::running;
    bool done_ = false;
    Parker* parker_ = nullptr;
  };

  /// The calling thread is inside the monitor while this exists (and not after wait()).
  class Section {
   public:
    explicit Section(Monitor& monitor) : monitor_(monitor) { monitor_.enter(); }
    ~Section() {
      if (inside_) monitor_.leave();
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    /// Blocks until complete(waiter), and leaves the monitor.
    void wait(Waiter& waiter) {
      monitor_.wait(waiter);
      inside_ = false;
    }

   private:
    Monitor& monitor_;
    bool inside_ = true;
  };

  /// Throws Error (Errc::exhausted) if the process has no descriptors or threads left. REQUIRES: `workers` outlives it.
  explicit Monitor(Workers& workers);
  /// REQUIRES: stopped.
  ~Monitor() override;

  /// Under the monitor: lets a blocked thread return. Once per waiter.
  void complete(Waiter& waiter);

  /// Ends the background thread; no timer fires any more. From outside the monitor.
  void stop();

  // spi::Loop
  /// When this thread entered, or came back from waiting: the clock is read once. So nothing that is armed now is taken
  /// to last longer than it does. (What a user asks, Hold answers with a reading of its own.)
  base::Instant now() const override {
    if (now_ == base::Instant::min()) now_ = base::BootClock::now();
    return now_;
  }
  void defer(base::Task task) override { deferred_.push_back(std::move(task)); }
  void post(base::Task task) override { posted_->post(std::move(task)); }
  void watch(int descriptor, Ready wanted, ReadyHandler handler) override;
  void unwatch(int descriptor) override;
  void run_blocking(base::Task work, base::Task done) override;

 private:
  struct Watch {
    std::uint32_t generation;
    ReadyHandler handler;
  };
  enum WakeReason : std::uint32_t { completed = 1, take_the_role = 2 };

  // spi::Loop
  void arm(spi::Timer& timer) override;
  void disarm(spi::Timer& timer) override { timers_.erase(timer); }
  void expect(bool by_user, int change) override;

  void enter();
  void enter_before_others();
  void leave();
  void wait(Waiter& waiter);
  void read_for(Waiter& waiter);
  void run_deferred() noexcept;
  bool run_due_timers() noexcept;
  void pass_the_role();
  bool background_should_read() const;

  void background();
  void read_ready();
  void dispatch(const epoll_event* events, int count) noexcept;
  void set_timer_descriptor(base::Instant due);

  Workers& workers_;
  base::FileDescriptor epoll_;
  base::FileDescriptor timer_;
  const std::shared_ptr<PostedTasks> posted_;

  std::mutex queue_mutex_;  ///< held by the background thread while it waits for mutex_; taken before it
  std::atomic<bool> background_waits_{false};
  std::mutex mutex_;                                  ///< guards everything below but the thread
  mutable base::Instant now_ = base::Instant::min();  ///< min: not read yet
  std::vector<base::Task> deferred_;
  std::size_t deferred_done_ = 0;
  bool running_deferred_ = false;
  base::DeadlineHeap<spi::Timer> timers_;
  base::Instant timer_set_for_ = base::Instant::max();
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;
  std::uint32_t next_generation_ = 0;

  base::IntrusiveList<Waiter> parked_;
  std::vector<std::pair<Parker*, WakeReason>> wakes_;  ///< due when the mutex is free
  int user_expectations_ = 0;
  int upkeep_expectations_ = 0;
  bool role_taken_ = false;
  bool role_offered_ = false;
  bool background_reads_ = false;   ///< it is polling the epoll set now
  bool background_called_ = false;  ///< it has been told to look up
  bool stopping_ = false;

  std::thread background_;
};

}  // namespace holdfast::core
