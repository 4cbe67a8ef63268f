#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/message.hpp"
#include "backends/sqlite/operation.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// What an operation works on: a transaction that has begun.
struct Step {
  /// Reading does not wait for writers, nor they for it.
  enum class Access { read, write };

  Store& store;
  Database& database;
  base::Instant sent;  ///< before the transaction began
};

/// The operations of one client on its database, in order; those that wait for each other share a transaction. Nothing
/// here waits: if another process writes, it is tried again a little later, until the patience of the operations ends.
/// Under the client's monitor.
class Transactions {
 public:
  using StepOperation = Operation<Step>;

  /// What the owner does around the transactions.
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
  };

  /// All must outlive it. `pretended`: instead of the real host.
  Transactions(spi::Loop& loop, Owner& owner, std::string path, std::optional<Host> pretended);
  ~Transactions();
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  void add(Step::Access access, std::unique_ptr<StepOperation> operation);
  /// Goes on after a reservation.
  void resume();
  /// There was no reservation: whatever waited for it fails.
  void refuse_reservation(const spi::Failure& failure);
  /// Answers everything that is unanswered. If the database is open and free, `last` is executed first.
  void close(const spi::Failure& failure, std::unique_ptr<StepOperation> last);

 private:
  struct Opening;
  enum class Outcome { committed, busy, failed, held_up };

  void open();
  void opening_finished(Opening& opening);
  void work();
  std::size_t next_batch() const;
  Outcome transact(std::size_t count);
  void fail_all(const spi::Failure& failure);
  void give_up();
  void wait_for_other_writers();
  void set_timer();

  spi::Loop& loop_;
  Owner& owner_;
  const std::string path_;
  const std::optional<Host> pretended_;
  std::unique_ptr<Database> database_;  ///< null until it is open, and while it is opened again
  bool opening_ = false;
  bool held_up_ = false;  ///< until more numbers are reserved
  struct Entry {
    Step::Access access;
    std::unique_ptr<StepOperation> operation;
  };
  std::deque<Entry> queue_;
  int attempts_ = 0;  ///< in a row that found another writer
  base::Instant retry_at_ = base::Instant::max();
  spi::Timer timer_;
  const std::shared_ptr<Transactions*> self_;  ///< null once this object has gone
};

}  // namespace holdfast::sqlite
