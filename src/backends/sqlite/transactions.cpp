#include "backends/sqlite/transactions.hpp"

#include <sched.h>

#include <array>
#include <utility>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

using spi::Failure;

/// A transaction of another process usually ends within microseconds: worth yielding a few times for.
constexpr int yields = 4;

}  // namespace

/// The last step, which nobody waits for.
class Transactions::Resignation final : public QueuedStep {
 public:
  explicit Resignation(Transactions& transactions)
      : QueuedStep(Access::write, base::Instant::max()), transactions_(transactions) {}
  void execute() override { transactions_.owner_.resign(*transactions_.step_); }
  void finish(std::optional<Failure>) override {}

 private:
  Transactions& transactions_;
};

struct Transactions::Opening {
  std::unique_ptr<Database> database;
  std::optional<Failure> failure;
};

Transactions::Transactions(spi::Loop& loop, Owner& owner, std::string path, std::optional<Machine> pretended)
    : loop_(loop), owner_(owner), path_(std::move(path)), pretended_(std::move(pretended)), queue_(loop, *this) {}

void Transactions::resume() {
  if (std::exchange(held_up_, false)) queue_.resume();
}

void Transactions::refuse_reservation(const Failure& failure) {
  if (std::exchange(held_up_, false)) queue_.fail_all(failure);
}

void Transactions::close(const Failure& failure) {
  queue_.close(failure);
  if (database_) {
    Resignation resignation(*this);
    if (!database_->replaced()) transact(std::array<QueuedStep*, 1>{&resignation});
    owner_.closing(*database_);
  }
  database_.reset();
  lifetime_.end();
}

void Transactions::open() {
  if (std::exchange(opening_, true)) return;
  auto opening = std::make_shared<Opening>();
  auto work = [path = path_, pretended = pretended_, opening] {
    try {
      opening->database = std::make_unique<Database>(path, pretended ? *pretended : Machine::real());
    } catch (const Refusal& refusal) {
      opening->failure = refusal.failure();
    }
  };
  auto done = [this, opening, here = lifetime_.watch()] {
    if (here.lasts()) opening_finished(*opening);
  };
  loop_.run_blocking(std::move(work), std::move(done));
}

void Transactions::opening_finished(Opening& opening) {
  opening_ = false;
  if (opening.failure) return queue_.fail_all(*opening.failure);
  database_ = std::move(opening.database);
  owner_.opened(*database_);
  queue_.resume();
}

StepQueue::Executor::Attempt Transactions::attempt(std::span<QueuedStep* const> steps) {
  if (database_ && database_->replaced()) {
    owner_.closing(*database_);
    database_.reset();
  }
  if (!database_) {
    open();
    return {.outcome = Outcome::paused};
  }
  Attempt attempt = transact(steps);
  for (int yielded = 0; yielded < yields && attempt.outcome == Outcome::busy; ++yielded) {
    ::sched_yield();
    attempt = transact(steps);
  }
  return attempt;
}

StepQueue::Executor::Attempt Transactions::transact(std::span<QueuedStep* const> steps) {
  bool committing = false;
  std::vector<Notice> notices;
  int log_pages = 0;
  try {
    const ForkGate::Use use;
    Database::Session& session = database_->session();
    step_.emplace(session.store, database_->machine().now());
    const bool writes = steps.front()->access() == Access::write;
    Transaction transaction(writes ? session.begin : session.begin_reading, session.commit, *session.connection);
    session.store.start();
    owner_.began();
    for (QueuedStep* each : steps) each->execute();
    database_->numbers().let_the_clock_pass();
    committing = true;
    transaction.commit();
    notices = session.store.take_notices();
    log_pages = session.connection->log_pages();
  } catch (const SqlFailure& failure) {
    if (failure.busy() && !committing) return {.outcome = Outcome::busy};
    return {.outcome = Outcome::failed, .failure = explain(failure, path_, committing)};
  } catch (const Refusal& refusal) {
    return {.outcome = Outcome::failed, .failure = refusal.failure()};
  } catch (const ReservationNeeded&) {
    held_up_ = true;
    owner_.reservation_needed();
    return {.outcome = Outcome::paused};
  }
  owner_.committed(std::move(notices), log_pages);
  return {.outcome = Outcome::committed};
}

Failure Transactions::why_late() const {
  if (database_ && !held_up_) return locked_by_another(path_);
  return {Errc::unreachable, "opening the database '" + path_ + "', or writing to its disk, takes too long"};
}

}  // namespace holdfast::sqlite
