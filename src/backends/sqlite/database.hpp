#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/sqlite/files.hpp"
#include "backends/sqlite/fork_gate.hpp"
#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/machine.hpp"
#include "backends/sqlite/mailbox.hpp"
#include "backends/sqlite/numbers.hpp"
#include "backends/sqlite/sql.hpp"
#include "backends/sqlite/store_logic.hpp"

namespace holdfast::sqlite {

/// A store's database as a client uses it all the time: quickly, and not durably. Closed before forks, and then opened
/// again when it is next used.
class Database final : private ForkGate::Member {
 public:
  /// Opens the store at `path`, or makes it. Takes its time: it may have to wait for others and for the disk.
  /// Throws Refusal. REQUIRES, here and for the destructor: no ForkGate::Use.
  Database(const std::string& path, Machine machine);
  ~Database() override;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// The steps of a transaction. REQUIRES: a ForkGate::Use, until the last use of what it returns.
  struct Session {
    Session(std::unique_ptr<Connection> opened, Database& database, StoreLogic::History history);
    std::unique_ptr<Connection> connection;
    Statement begin;
    Statement begin_reading;
    Statement commit;
    StoreLogic store;
  };
  /// Throws SqlFailure.
  Session& session();

  /// Somebody has put other files in the place of those that are open, or none.
  bool replaced() const { return !identities_->still_there(); }

  const Files& files() const { return files_; }
  const Machine& machine() const { return machine_; }
  Numbers& numbers() { return *numbers_; }
  Lifelines& lifelines() const { return **lifelines_; }
  const Mailboxes& mailboxes() const { return *mailboxes_; }

 private:
  void open(const std::string& path);
  void close_before_fork() noexcept override { session_.reset(); }
  void forget_in_child() noexcept override {}

  const Machine machine_;
  Files files_;
  std::optional<Lifelines::Handle> lifelines_;
  std::optional<Mailboxes> mailboxes_;
  std::optional<Numbers> numbers_;
  std::unique_ptr<Session> session_;
  std::optional<FileIdentities> identities_;
};

}  // namespace holdfast::sqlite
