#include "backends/sqlite/schema.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

#include "backends/sqlite/checksum.hpp"
#include "backends/sqlite/failures.hpp"
#include "base/file_descriptor.hpp"

// One file, six tables:
//   store      one row: the boot, and the range of numbers (numbers.hpp)
//   clients    who may have claims: the number is the place of its lifeline and the name of its mailbox
//   claims     the lines. Holders come first (waiting = 0), then those who wait, each in the order of places (turn)
//   pools      of lines of permits only: how many there are, how many are taken, and by how many holders
//   registers  versioned values
//   watchers   who wants to be told, once, that a register changed
// Rows that decide over grants and values have a checksum (checksum.hpp). Times are nanoseconds since boot. The lock
// and the semaphore of one name are two lines (permits = 0, 1). Names may contain NUL: they are bytes, compared as such.
//
// The key of a claim is its place in the line, so that a look at the line and a grant need no other index; the client
// remembers where its claims are, and finds one that it does not know by its id, which costs more.
//
// A line may have thousands of holders that share it. These are also found by their ids and by their ends; but whoever
// wants to be alone, or found the line empty, does not pay for the two indexes (crowd = 0). So of the holders that
// share a line only the first one may be missing there.

namespace holdfast::sqlite {
namespace {

constexpr int schema_version = 3;
constexpr int application = 0x486f6c64;  // "Hold"

/// A megabyte, which takes some milliseconds. A larger store is checked where it is read.
constexpr std::int64_t most_checked_pages = 256;

constexpr const char* tables = R"sql(
CREATE TABLE store (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  boot TEXT NOT NULL,
  base INTEGER NOT NULL,
  number_limit INTEGER NOT NULL,
  mark INTEGER NOT NULL,
  checksum INTEGER NOT NULL
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
  checksum INTEGER NOT NULL,
  PRIMARY KEY (name, permits, waiting, turn)
) WITHOUT ROWID;
CREATE INDEX crowd_by_id ON claims (id) WHERE crowd = 1;
CREATE INDEX crowd_by_end ON claims (name, permits, opens) WHERE crowd = 1 AND waiting = 0;
CREATE TABLE pools (
  name TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  used INTEGER NOT NULL,
  holders INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE registers (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  value BLOB NOT NULL,
  checksum INTEGER NOT NULL
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

struct StoreRow {
  std::string boot;
  Numbers::Range range;
};

std::int64_t checksum_of(const StoreRow& row) {
  return Checksum().add(row.boot).add(row.range.base).add(row.range.limit).value();
}

StoreRow read_store(Connection& connection) {
  Statement statement(connection, "SELECT boot, base, number_limit, checksum FROM store");
  auto rows = statement.rows();
  if (!rows.next()) fail_as_damaged("the row that numbers come from is missing");
  constexpr std::int64_t last = (std::int64_t{1} << Numbers::bits) - 1;
  StoreRow row{std::string(rows.text(0)), {.base = rows.integer(1, -last, last), .limit = rows.integer(2, 0, last)}};
  if (rows.integer(3) != checksum_of(row)) fail_as_damaged("the checksum of the numbers is wrong");
  return row;
}

void write_store(Connection& connection, const StoreRow& row) {
  Statement(connection, "UPDATE store SET boot = ?1, base = ?2, number_limit = ?3, checksum = ?4")
      .change_one(row.boot, row.range.base, row.range.limit, checksum_of(row));
}

std::int64_t time_of_day() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void create(Connection& connection, const Machine& machine) {
  connection.execute(tables);
  connection.execute(("PRAGMA application_id = " + std::to_string(application)).c_str());
  connection.execute(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
  connection.execute("INSERT INTO store VALUES (1, '', 0, 0, 0, 0)");
  write_store(connection, {machine.boot_id, Numbers::starting_at(time_of_day(), machine)});
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

bool begin_boot(Connection& connection, const Machine& machine) {
  const StoreRow before = read_store(connection);
  if (before.boot == machine.boot_id) return false;
  connection.execute("DELETE FROM claims; DELETE FROM pools; DELETE FROM clients; DELETE FROM watchers");
  write_store(connection, {machine.boot_id, Numbers::starting_at(before.range.limit, machine)});
  return true;
}

/// The commonest case, without taking the write lock.
bool is_current(Connection& connection, const Machine& machine) {
  if (pragma(connection, "user_version") != schema_version) return false;
  if (pragma(connection, "application_id") != application) return false;
  return read_store(connection).boot == machine.boot_id;
}

}  // namespace

void prepare_schema(Connection& connection, const Machine& machine, const std::string& log,
                    const Mailboxes& mailboxes) {
  if (is_current(connection, machine)) return confirm_what_was_left(connection, log);
  // Outside of a transaction; a database that is in this mode already stays as it is.
  if (!has_tables(connection)) connection.execute("PRAGMA journal_mode = WAL");
  Statement begin(connection, "BEGIN IMMEDIATE");
  Statement commit(connection, "COMMIT");
  Transaction transaction(begin, commit, connection);
  if (!has_tables(connection)) {
    create(connection, machine);
    mailboxes.remove_all();  // before anybody else can open one
  } else {
    check_version(connection);
    if (begin_boot(connection, machine)) mailboxes.remove_all();
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
  const base::FileDescriptor file(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
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
  } catch (const SqlFailure&) {  // NOLINT(bugprone-empty-catch): it has its reason
    // It stays, and somebody syncs the log once more.
  }
}

Numbers::Range read_range(Connection& connection) { return read_store(connection).range; }

Numbers::Range extend_range(Connection& connection, const Machine& machine) {
  StoreRow row = read_store(connection);
  Numbers::Range& range = row.range;
  range.limit = std::max(range.limit, range.base + Numbers::microseconds(machine.now()) + Numbers::reservation);
  write_store(connection, row);
  return range;
}

bool check_structure(Connection& connection) {
  if (pragma(connection, "page_count") > most_checked_pages) return false;
  Statement statement(connection, "PRAGMA quick_check(1)");
  auto rows = statement.rows();
  if (!rows.next()) fail_as_damaged("SQLite cannot check it");
  if (rows.text(0) != "ok") fail_as_damaged(std::string(rows.text(0)));
  return true;
}

}  // namespace holdfast::sqlite
