#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/message.hpp"
#include "backends/sqlite/step_queue.hpp"
#include "base/lifetime.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// What a step works on: a transaction that has begun.
struct Step {
  StoreLogic& store;
  base::Instant sent;  ///< before the transaction began
};

/// The transactions of one client on its database, which is opened when it is first needed, and again after it was
/// replaced. Under the client's monitor.
class Transactions final : private StepQueue::Executor {
 public:
  /// What the owner does around the transactions. It must not end this object.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The database is open, for the first time or again: after it was replaced, nothing in it is known.
    virtual void opened(Database& database) = 0;
    /// The database is about to be closed: forget all of it.
    virtual void closing(Database& database) = 0;
    /// A transaction has begun; what the one before it did was undone unless it was committed.
    virtual void began() = 0;
    /// A transaction was committed; these should be told, and the write-ahead log has so many pages.
    virtual void committed(std::vector<Notice> notices, int log_pages) = 0;
    /// No number may be given before more are reserved: call resume() or refuse_reservation() then.
    virtual void reservation_needed() = 0;
    /// A step of the last transaction of this client.
    virtual void resign(Step& step) = 0;
  };

  /// `co_await`ed: a step that calls `function(Step&)`, which returns a Result.
  template <class Function>
  class Awaited;

  /// REQUIRES: all outlive it. `pretended`: instead of the real machine.
  Transactions(spi::Loop& loop, Owner& owner, std::string path, std::optional<Machine> pretended);
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  /// `co_await run(access, deadline, function)`: what `function(Step&)` returned in the transaction that was committed,
  /// or why there was none. It may be called several times, so it must begin from what it was given each time.
  /// REQUIRES: a coroutine that lives until then.
  template <class Function>
  Awaited<Function> run(Access access, base::Instant deadline, Function function) {
    return Awaited<Function>(*this, access, deadline, std::move(function));
  }

  /// Goes on after a reservation.
  void resume();
  /// There was no reservation: whatever waited for it fails.
  void refuse_reservation(const spi::Failure& failure);
  /// Answers everything that is unanswered, and refuses what comes later. If the database is open and free, the owner
  /// resigns first.
  void close(const spi::Failure& failure);

 private:
  struct Opening;
  class Resignation;

  Attempt attempt(std::span<QueuedStep* const> steps) override;
  spi::Failure why_late() const override;
  Attempt transact(std::span<QueuedStep* const> steps);
  void open();
  void opening_finished(Opening& opening);

  spi::Loop& loop_;
  Owner& owner_;
  const std::string path_;
  const std::optional<Machine> pretended_;
  std::unique_ptr<Database> database_;  ///< null until it is open, and while it is opened again
  bool opening_ = false;
  bool held_up_ = false;      ///< until more numbers are reserved
  std::optional<Step> step_;  ///< of the newest transaction
  StepQueue queue_;
  base::Lifetime lifetime_;
};

template <class Function>
class Transactions::Awaited final : private QueuedStep {
  using Returned = std::invoke_result_t<Function&, Step&>;

 public:
  Awaited(Transactions& transactions, Access access, base::Instant deadline, Function function)
      : QueuedStep(access, deadline), transactions_(transactions), function_(std::move(function)) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    transactions_.queue_.add(*this);
  }
  Returned await_resume() {
    if (failure_) return *std::move(failure_);
    return *std::move(returned_);
  }

 private:
  void execute() override { returned_.emplace(function_(*transactions_.step_)); }
  void finish(std::optional<spi::Failure> failure) override {
    failure_ = std::move(failure);
    waiting_.resume();
  }

  Transactions& transactions_;
  Function function_;
  std::coroutine_handle<> waiting_;
  std::optional<Returned> returned_;
  std::optional<spi::Failure> failure_;
};

}  // namespace holdfast::sqlite
