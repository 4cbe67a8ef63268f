#include "backends/sqlite/database.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/schema.hpp"

namespace holdfast::sqlite {
namespace {

using std::chrono::milliseconds;

// While it is opened, somebody else may be making it.
constexpr milliseconds opening_wait(200);
constexpr int attempts = 4;

/// Some locks that SQLite takes to change the journal's mode are not waited for, whatever its timeout.
void prepare_patiently(Connection& connection, const Machine& machine, const std::string& log,
                       const Mailboxes& mailboxes) {
  for (int attempt = 1;; ++attempt) {
    try {
      return prepare_schema(connection, machine, log, mailboxes);
    } catch (const SqlFailure& failure) {
      if (!failure.busy() || attempt == attempts) throw;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
}

}  // namespace

Database::Session::Session(std::unique_ptr<Connection> opened, Database& database, StoreLogic::History history)
    : connection(std::move(opened)),
      begin(*connection, "BEGIN IMMEDIATE"),
      begin_reading(*connection, "BEGIN"),
      commit(*connection, "COMMIT"),
      store(*connection, database.lifelines(), database.machine_, *database.numbers_, history) {}

Database::Database(const std::string& path, Machine machine) : machine_(std::move(machine)) {
  const ForkGate::Use use;
  try {
    open(path);
  } catch (const SqlFailure& failure) {
    const spi::Failure explained = explain(failure, path);
    throw Refusal(explained.code, explained.detail);
  }
  ForkGate::join(*this);
}

Database::~Database() {
  const ForkGate::Use use;
  ForkGate::leave(*this);
  session_.reset();
  lifelines_.reset();
}

void Database::open(const std::string& path) {
  files_ = Files::prepare(path);
  auto connection = std::make_unique<Connection>(files_.database, Connection::Durability::full, opening_wait);
  lifelines_.emplace(Lifelines::in(files_.lifelines()));
  mailboxes_.emplace(files_.mailboxes());
  prepare_patiently(*connection, machine_, files_.log(), *mailboxes_);
  const bool small = check_structure(*connection);
  numbers_.emplace(machine_, read_range(*connection));
  session_ = std::make_unique<Session>(std::move(connection), *this, StoreLogic::History::none);
  if (small) session_->store.check();
  // From here on it is used under a monitor, where nothing may wait.
  session_->connection->set_busy_wait(milliseconds(0));
  // In a new database SQLite has used and removed the rollback journal; and it removes the log of an older one.
  files_.make_companions();
  identities_.emplace(files_);
}

Database::Session& Database::session() {
  if (!session_) {
    auto connection = std::make_unique<Connection>(files_.database, Connection::Durability::normal, milliseconds(0));
    confirm_what_was_left(*connection, files_.log());
    session_ = std::make_unique<Session>(std::move(connection), *this, StoreLogic::History::unknown);
  }
  return *session_;
}

}  // namespace holdfast::sqlite
