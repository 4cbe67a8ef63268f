#include "backends/sqlite/transactions.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

using base::Instant;
using spi::Failure;

/// So many operations share a transaction at most: others want to write, too.
constexpr std::size_t batch = 128;

/// A transaction of another process usually ends within microseconds: worth yielding a few times for.
constexpr int yields = 4;
constexpr auto shortest_wait = std::chrono::microseconds(50);
constexpr int most_doublings = 9;

}  // namespace

struct Transactions::Opening {
  std::unique_ptr<Database> database;
  std::optional<Failure> failure;
};

Transactions::Transactions(spi::Loop& loop, Owner& owner, std::string path, std::optional<Host> pretended)
    : loop_(loop),
      owner_(owner),
      path_(std::move(path)),
      pretended_(std::move(pretended)),
      timer_(loop,
             [this] {
               give_up();
               work();
             }),
      self_(std::make_shared<Transactions*>(this)) {}

Transactions::~Transactions() { *self_ = nullptr; }

void Transactions::add(Step::Access access, std::unique_ptr<StepOperation> operation) {
  queue_.push_back({access, std::move(operation)});
  // Whoever came before has not been served either.
  if (queue_.size() == 1) work();
  set_timer();
}

void Transactions::resume() {
  held_up_ = false;
  work();
  set_timer();
}

void Transactions::refuse_reservation(const Failure& failure) {
  if (std::exchange(held_up_, false)) fail_all(failure);
  set_timer();
}

void Transactions::close(const Failure& failure, std::unique_ptr<StepOperation> last) {
  fail_all(failure);
  timer_.cancel();
  if (database_) {
    queue_.push_back({Step::Access::write, std::move(last)});
    if (!database_->replaced()) transact(1);
    queue_.clear();
    owner_.closing(*database_);
  }
  database_.reset();
  *self_ = nullptr;
}

void Transactions::open() {
  if (std::exchange(opening_, true)) return;
  auto opening = std::make_shared<Opening>();
  auto work = [path = path_, pretended = pretended_, opening] {
    try {
      opening->database = std::make_unique<Database>(path, pretended ? *pretended : Host::real());
    } catch (const Refusal& refusal) {
      opening->failure = refusal.failure();
    }
  };
  auto done = [self = self_, opening] {
    if (*self != nullptr) (*self)->opening_finished(*opening);
  };
  loop_.run_blocking(std::move(work), std::move(done));
}

void Transactions::opening_finished(Opening& opening) {
  opening_ = false;
  if (opening.database) {
    database_ = std::move(opening.database);
    owner_.opened(*database_);
    work();
  } else {
    fail_all(*opening.failure);
  }
  set_timer();
}

void Transactions::work() {
  retry_at_ = Instant::max();
  while (!queue_.empty() && !opening_ && !held_up_) {
    if (database_ && database_->replaced()) {
      owner_.closing(*database_);
      database_.reset();
    }
    if (!database_) return open();
    Outcome outcome = Outcome::busy;
    for (int attempt = 0; attempt <= yields && outcome == Outcome::busy; ++attempt) {
      if (attempt > 0) ::sched_yield();
      outcome = transact(next_batch());
    }
    if (outcome == Outcome::busy) return wait_for_other_writers();
    attempts_ = 0;
  }
}

/// Those at the front that want the same kind of transaction.
std::size_t Transactions::next_batch() const {
  const auto first_other = std::find_if(queue_.begin(), queue_.end(),
                                        [this](const Entry& entry) { return entry.access != queue_.front().access; });
  return std::min(static_cast<std::size_t>(first_other - queue_.begin()), batch);
}

Transactions::Outcome Transactions::transact(std::size_t count) {
  bool committing = false;
  std::vector<Notice> notices;
  int log_pages = 0;
  try {
    const ForkGate::Use use;
    Database::Session& session = database_->session();
    Step step{session.store, *database_, database_->host().now()};
    const bool writes = queue_.front().access == Step::Access::write;
    Transaction transaction(writes ? session.begin : session.begin_reading, session.commit, *session.connection);
    session.store.start();
    owner_.began();
    for (std::size_t i = 0; i < count; ++i) queue_[i].operation->execute(step);
    database_->numbers().let_the_clock_pass();
    committing = true;
    transaction.commit();
    notices = session.store.take_notices();
    log_pages = session.connection->log_pages();
  } catch (const SqlFailure& failure) {
    if (failure.busy() && !committing) return Outcome::busy;
    fail_all(explain(failure, path_, committing));
    return Outcome::failed;
  } catch (const Refusal& refusal) {
    fail_all(refusal.failure());
    return Outcome::failed;
  } catch (const ReservationNeeded&) {
    held_up_ = true;
    owner_.reservation_needed();
    return Outcome::held_up;
  }
  for (std::size_t i = 0; i < count; ++i) {
    loop_.defer([operation = std::move(queue_.front().operation)] { operation->answer(); });
    queue_.pop_front();
  }
  owner_.committed(std::move(notices), log_pages);
  return Outcome::committed;
}

void Transactions::fail_all(const Failure& failure) {
  for (auto& entry : std::exchange(queue_, {})) {
    loop_.defer([operation = std::move(entry.operation), failure] { operation->fail(failure); });
  }
}

void Transactions::give_up() {
  const Instant now = loop_.now();
  const Failure failure =
      database_ && !held_up_
          ? locked_by_another(path_)
          : Failure{Errc::unreachable, "opening the database '" + path_ + "', or writing to its disk, takes too long"};
  std::erase_if(queue_, [&](Entry& entry) {
    if (entry.operation->deadline() > now) return false;
    loop_.defer([operation = std::move(entry.operation), failure] { operation->fail(failure); });
    return true;
  });
}

void Transactions::wait_for_other_writers() {
  const int doublings = std::min(attempts_++, most_doublings);
  // Not all at the same time: the clock's last digits are as good as dice.
  const auto jitter = base::BootClock::now().time_since_epoch().count() % 64;
  retry_at_ = loop_.now() + shortest_wait * (1 << doublings) * (64 + jitter) / 64;
  set_timer();
}

void Transactions::set_timer() {
  Instant next = queue_.empty() ? Instant::max() : retry_at_;
  for (const Entry& entry : queue_) next = std::min(next, entry.operation->deadline());
  timer_.set(next);
}

}  // namespace holdfast::sqlite
