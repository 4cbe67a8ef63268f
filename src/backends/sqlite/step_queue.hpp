#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/instant.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::sqlite {

/// Reading does not wait for writers, nor they for it.
enum class Access : std::uint8_t { read, write };

/// Part of a transaction that somebody waits for.
class QueuedStep {
 public:
  /// `deadline`: when its patience ends.
  QueuedStep(Access access, base::Instant deadline) : access_(access), deadline_(deadline) {}
  virtual ~QueuedStep() = default;
  QueuedStep(const QueuedStep&) = delete;
  QueuedStep& operator=(const QueuedStep&) = delete;

  /// Runs inside a transaction of the executor, perhaps in several ones until one of them is committed.
  virtual void execute() = 0;
  /// Runs once, from the loop: the step was executed and that is committed, or it failed. Nobody uses the step
  /// afterwards.
  virtual void finish(std::optional<spi::Failure> failure) = 0;

  Access access() const { return access_; }
  base::Instant deadline() const { return deadline_; }

 private:
  const Access access_;
  const base::Instant deadline_;
};

/// The steps of one client, executed in the order in which they came; those that wait for each other share a
/// transaction. Nothing here blocks: if another process writes, the transaction is attempted again a little later, until
/// the patience of the steps ends. It knows no database: an Executor has it. Under the client's monitor.
class StepQueue {
 public:
  /// Executes transactions. It must not call the queue.
  class Executor {
   public:
    enum class Outcome : std::uint8_t {
      committed,
      busy,    ///< another process writes: nothing has happened
      paused,  ///< nothing has happened, and nothing will before resume() or fail_all() is called
      failed,  ///< with a failure that is everybody's
    };
    struct Attempt {
      Outcome outcome = Outcome::committed;
      std::optional<spi::Failure> failure = {};
    };

    virtual ~Executor() = default;
    /// Attempts one transaction with these steps, all of which want the same access.
    virtual Attempt attempt(std::span<QueuedStep* const> steps) = 0;
    /// Why a step that has lost its patience was not executed.
    virtual spi::Failure why_late() const = 0;
  };

  /// A transaction has so many steps at most: other processes want to write, too.
  static constexpr std::size_t batch = 128;

  /// REQUIRES: both outlive the queue.
  StepQueue(spi::Loop& loop, Executor& executor);

  /// REQUIRES: `step` lives until it is finished.
  void add(QueuedStep& step);
  /// Ends a pause.
  void resume();
  /// Ends a pause, too: everything that waits fails.
  void fail_all(const spi::Failure& failure);
  /// Whatever waits fails, and so does whatever comes later.
  void close(const spi::Failure& failure);

 private:
  void work();
  std::span<QueuedStep* const> next_batch();
  void finish_first(std::size_t count);
  void finish_soon(QueuedStep& step, std::optional<spi::Failure> failure);
  void attempt_again_later();
  void give_up();
  void set_timer();

  spi::Loop& loop_;
  Executor& executor_;
  std::deque<QueuedStep*> waiting_;
  std::vector<QueuedStep*> batch_;  ///< of the attempt under way; kept, so that the next one allocates nothing
  bool paused_ = false;
  int attempts_ = 0;  ///< in a row that found another writer
  base::Instant retry_at_ = base::Instant::max();
  std::optional<spi::Failure> closed_;
  spi::Timer timer_;
};

}  // namespace holdfast::sqlite
