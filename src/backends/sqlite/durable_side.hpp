#pragma once

#include <memory>
#include <string>

#include "backends/sqlite/fork_gate.hpp"
#include "backends/sqlite/machine.hpp"
#include "backends/sqlite/schema.hpp"
#include "backends/sqlite/sql.hpp"

namespace holdfast::sqlite {

/// A second connection to a store's database, for what must survive a power loss, and so waits for the disk: used on
/// threads that may block, by one at a time. All throw Refusal.
class DurableSide final : private ForkGate::Member {
 public:
  DurableSide(std::string path, Machine machine);
  ~DurableSide() override;
  DurableSide(const DurableSide&) = delete;
  DurableSide& operator=(const DurableSide&) = delete;

  /// Runs `step(Connection&)` in a transaction that is on the disk when this returns.
  template <class Step>
  auto transact(Step step) {
    const ForkGate::Use use;
    bool committing = false;
    try {
      Connection& connection = open();
      connection.set_durability(Connection::Durability::full);
      Statement begin(connection, "BEGIN IMMEDIATE");
      Statement commit(connection, "COMMIT");
      Transaction transaction(begin, commit, connection);
      auto result = step(connection);
      const std::int64_t left = mark(connection);
      committing = true;
      transaction.commit();
      confirm(connection, left);
      return result;
    } catch (const SqlFailure& failure) {
      refuse(failure, committing);
    }
  }

  /// Moves the log into the database, if it has grown long. Others may do so at the same time.
  void shorten_log(int log_pages);
  /// Reserves more numbers. Returns the new limit.
  std::int64_t reserve();

  /// From here on the log is worth moving.
  static constexpr int long_log = 2000;

 private:
  Connection& open();
  [[noreturn]] void refuse(const SqlFailure& failure, bool committing) const;
  void close_before_fork() noexcept override { connection_.reset(); }

  const std::string path_;
  const Machine machine_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace holdfast::sqlite
