#include "backends/sqlite/schema.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

#include "backends/sqlite/failures.hpp"
#include "spi/file_descriptor.hpp"

// One file, six tables:
//   store      one row: the boot, and the range of numbers (numbers.hpp)
//   clients    who may have claims: the number is the place of its lifeline and the name of its door
//   claims     the lines. Holders come first (waiting = 0), then those who wait, each in the order of their turns
//   pools      of lines of permits only: how many there are, how many are taken, and by how many holders
//   registers  versioned values
//   watchers   who wants to be told, once, that a register changed
// Times are nanoseconds since boot. Locks and permits of one name are two lines (permits = 0, 1). Names may contain
// NUL: they are bytes, compared as such.
//
// A line may have thousands of holders that share it. These are also found by their ids and by their ends; but whoever
// wants to be alone, or found the line empty, does not pay for the two indexes (crowd = 0). So of the holders that
// share a line only the first one may be missing there.

namespace holdfast::sqlite {
namespace {

constexpr int schema_version = 2;
constexpr int application = 0x486f6c64;  // "Hold"

constexpr const char* tables = R"sql(
CREATE TABLE store (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  boot TEXT NOT NULL,
  base INTEGER NOT NULL,
  number_limit INTEGER NOT NULL,
  mark INTEGER NOT NULL
);
CREATE TABLE clients (
  client_number INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  command TEXT NOT NULL,
  label TEXT NOT NULL
);
CREATE TABLE claims (
  name TEXT NOT NULL,
  permits INTEGER NOT NULL,
  waiting INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  id BLOB NOT NULL,
  client INTEGER NOT NULL,
  crowd INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  units INTEGER NOT NULL,
  number INTEGER NOT NULL,
  lease INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  opens INTEGER NOT NULL,
  since INTEGER NOT NULL,
  reason TEXT NOT NULL,
  asked TEXT,
  asked_until INTEGER,
  PRIMARY KEY (name, permits, waiting, turn)
) WITHOUT ROWID;
CREATE INDEX crowd_by_id ON claims (id) WHERE crowd = 1;
CREATE INDEX crowd_by_end ON claims (name, permits, opens) WHERE crowd = 1 AND waiting = 0;
CREATE TABLE pools (
  name TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  used INTEGER NOT NULL,
  holders INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE registers (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  value BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE watchers (
  name TEXT NOT NULL,
  client INTEGER NOT NULL,
  PRIMARY KEY (name, client)
) WITHOUT ROWID;
)sql";

std::int64_t pragma(Connection& connection, const char* name) {
  Statement statement(connection, std::string("PRAGMA ") + name);
  auto rows = statement.rows();
  return rows.next() ? rows.integer(0) : 0;
}

bool has_tables(Connection& connection) {
  Statement statement(connection, "SELECT 1 FROM sqlite_schema LIMIT 1");
  return statement.rows().next();
}

std::int64_t time_of_day() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void create(Connection& connection, const Host& host) {
  connection.execute(tables);
  connection.execute(("PRAGMA application_id = " + std::to_string(application)).c_str());
  connection.execute(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
  const Numbers::Range range = Numbers::starting_at(time_of_day(), host);
  Statement(connection, "INSERT INTO store VALUES (1, ?1, ?2, ?3, 0)").run(host.boot_id, range.base, range.limit);
}

void check_version(Connection& connection) {
  if (pragma(connection, "application_id") != application) {
    throw Refusal(Errc::store_failed, "this file is a SQLite database of another application; choose another path");
  }
  const std::int64_t version = pragma(connection, "user_version");
  if (version < schema_version) {
    throw Refusal(Errc::store_failed, "this file was made by an older development version of Holdfast (its schema is " +
                                          std::to_string(version) + ", this version needs " +
                                          std::to_string(schema_version) + "); choose another path, or delete it");
  }
  if (version > schema_version) {
    throw Refusal(Errc::store_failed, "this file was made by a newer version of Holdfast (its schema is " +
                                          std::to_string(version) + ", this version knows " +
                                          std::to_string(schema_version) + "); use that version, or another path");
  }
}

bool begin_boot(Connection& connection, const Host& host) {
  {
    Statement statement(connection, "SELECT boot FROM store");
    auto rows = statement.rows();
    if (rows.next() && rows.text(0) == host.boot_id) return false;
  }
  connection.execute("DELETE FROM claims; DELETE FROM pools; DELETE FROM clients; DELETE FROM watchers");
  const Numbers::Range range = Numbers::starting_at(read_range(connection).limit, host);
  Statement(connection, "UPDATE store SET boot = ?1, base = ?2, number_limit = ?3")
      .run(host.boot_id, range.base, range.limit);
  return true;
}

/// The commonest case, without taking the write lock.
bool is_current(Connection& connection, const Host& host) {
  if (pragma(connection, "user_version") != schema_version) return false;
  if (pragma(connection, "application_id") != application) return false;
  Statement statement(connection, "SELECT boot FROM store");
  auto rows = statement.rows();
  return rows.next() && rows.text(0) == host.boot_id;
}

}  // namespace

void prepare_schema(Connection& connection, const Host& host, const std::string& log, const Doors& doors) {
  if (is_current(connection, host)) return confirm_what_was_left(connection, log);
  // Outside of a transaction; a database that is in this mode already stays as it is.
  if (!has_tables(connection)) connection.execute("PRAGMA journal_mode = WAL");
  Statement begin(connection, "BEGIN IMMEDIATE");
  Statement commit(connection, "COMMIT");
  Transaction transaction(begin, commit, connection);
  if (!has_tables(connection)) {
    create(connection, host);
    doors.remove_all();  // before anybody else can open one
  } else {
    check_version(connection);
    if (begin_boot(connection, host)) doors.remove_all();
  }
  const std::int64_t left = mark(connection);
  transaction.commit();
  confirm(connection, left);
}

void confirm_what_was_left(Connection& connection, const std::string& log) {
  std::int64_t left = 0;
  {
    Statement statement(connection, "SELECT mark FROM store");
    auto rows = statement.rows();
    if (rows.next()) left = rows.integer(0);
  }
  if (left == 0) return connection.set_durability(Connection::Durability::normal);
  // Opening and closing it is safe: SQLite has no locks on this one of its files.
  const spi::FileDescriptor file(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fdatasync(file.get()) != 0) {
    throw Refusal(meaning_of(errno), "cannot sync '" + log + "': " + std::generic_category().message(errno));
  }
  confirm(connection, left);
}

std::int64_t mark(Connection& connection) {
  connection.execute("UPDATE store SET mark = mark + 1");
  Statement statement(connection, "SELECT mark FROM store");
  auto rows = statement.rows();
  return rows.next() ? rows.integer(0) : 0;
}

void confirm(Connection& connection, std::int64_t mark) {
  connection.set_durability(Connection::Durability::normal);
  try {
    Statement(connection, "UPDATE store SET mark = 0 WHERE mark = ?1").run(mark);
  } catch (const SqlFailure&) {
    // It stays, and somebody syncs the log once more.
  }
}

Numbers::Range read_range(Connection& connection) {
  Statement statement(connection, "SELECT base, number_limit FROM store");
  auto rows = statement.rows();
  if (!rows.next()) throw Refusal(Errc::store_failed, "this file has lost the row that its numbers come from");
  return {.base = rows.integer(0), .limit = rows.integer(1)};
}

Numbers::Range extend_range(Connection& connection, const Host& host) {
  Numbers::Range range = read_range(connection);
  range.limit = std::max(range.limit, range.base + Numbers::microseconds(host.now()) + Numbers::reservation);
  Statement(connection, "UPDATE store SET number_limit = ?1").run(range.limit);
  return range;
}

}  // namespace holdfast::sqlite
