#include "backends/sqlite/sql.hpp"

#include <cstring>
#include <new>
#include <thread>

namespace holdfast::sqlite {

bool SqlFailure::busy() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_PROTOCOL;
}

void fail_as_damaged(const std::string& what) { throw SqlFailure(SQLITE_CORRUPT, 0, what); }

Connection::Connection(const std::string& path, Durability durability, std::chrono::milliseconds busy_wait) {
  // No mutex of SQLite's own: whoever owns a connection uses it from one thread at a time.
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW;
  try {
    if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
      if (handle_ == nullptr) throw std::bad_alloc();
      fail();
    }
    set_busy_wait(busy_wait);
    // Closing must not need the disk: the log stays, and whoever opens the file next finds it.
    int persist = 1;
    sqlite3_file_control(handle_, nullptr, SQLITE_FCNTL_PERSIST_WAL, &persist);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    // Setting a hook also turns off SQLite's own checkpoints, which would sync inside somebody's commit.
    const auto remember_pages = [](void* self, sqlite3*, const char*, int pages) {
      static_cast<Connection*>(self)->log_pages_ = pages;
      return SQLITE_OK;
    };
    sqlite3_wal_hook(handle_, remember_pages, this);
    // Damaged pages are better noticed when they are read than when they are used.
    execute("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    set_durability(durability);
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Connection::~Connection() { sqlite3_close(handle_); }

void Connection::set_durability(Durability durability) {
  execute(durability == Durability::full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

void Connection::set_busy_wait(std::chrono::milliseconds wait) {
  busy_wait_ = wait;
  // SQLite's own handler soon sleeps for 100 ms at a time, and finds the lock free only by luck.
  const auto sleep_a_little = [](void* self, int times_before) {
    auto& connection = *static_cast<Connection*>(self);
    const auto now = std::chrono::steady_clock::now();
    if (times_before == 0) connection.waiting_since_ = now;
    if (now - connection.waiting_since_ >= connection.busy_wait_) return 0;
    const auto jitter = std::chrono::microseconds(now.time_since_epoch().count() % 256);
    std::this_thread::sleep_for(std::chrono::microseconds(64) + jitter);
    return 1;
  };
  sqlite3_busy_handler(handle_, wait > std::chrono::milliseconds::zero() ? +sleep_a_little : nullptr, this);
}

void Connection::execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Connection::fail() const {
  throw SqlFailure(sqlite3_extended_errcode(handle_), sqlite3_system_errno(handle_), sqlite3_errmsg(handle_));
}

Statement::Statement(Connection& connection, std::string_view sql) : connection_(connection) {
  check(sqlite3_prepare_v3(connection.handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                           &handle_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::bind(int index, std::int64_t value) { check(sqlite3_bind_int64(handle_, index, value)); }

void Statement::bind(int index, std::string_view value) {
  // Never a null pointer, which would bind NULL.
  const char* bytes = value.empty() ? "" : value.data();
  check(sqlite3_bind_text(handle_, index, bytes, static_cast<int>(value.size()), SQLITE_STATIC));
}

void Statement::bind(int index, const spi::ClaimId& id) {
  check(sqlite3_bind_blob(handle_, index, &id, sizeof(id), SQLITE_TRANSIENT));
}

void Statement::check(int result) const {
  if (result != SQLITE_OK) connection_.fail();
}

void Statement::check_one_changed() const {
  if (sqlite3_changes(connection_.handle()) != 1) fail_as_damaged("a row that was read is not found again");
}

Statement::Rows::~Rows() { sqlite3_reset(statement_.handle_); }

bool Statement::Rows::next() {
  const int result = sqlite3_step(statement_.handle_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) statement_.connection_.fail();
  return false;
}

std::int64_t Statement::Rows::integer(int column) const { return sqlite3_column_int64(statement_.handle_, column); }

std::int64_t Statement::Rows::integer(int column, std::int64_t smallest, std::int64_t largest) const {
  const std::int64_t value = integer(column);
  const bool is_integer = sqlite3_column_type(statement_.handle_, column) == SQLITE_INTEGER;
  if (!is_integer || value < smallest || value > largest) {
    fail_as_damaged(std::string("impossible value in column ") + sqlite3_column_name(statement_.handle_, column));
  }
  return value;
}

std::string_view Statement::Rows::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.handle_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.handle_, column));
  return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), size);
}

bool Statement::Rows::null(int column) const { return sqlite3_column_type(statement_.handle_, column) == SQLITE_NULL; }

spi::ClaimId Statement::Rows::claim_id(int column) const {
  spi::ClaimId id;
  const std::string_view bytes = text(column);
  if (bytes.size() != sizeof(id)) fail_as_damaged("impossible id of a claim");
  std::memcpy(&id, bytes.data(), sizeof(id));
  return id;
}

Transaction::Transaction(Statement& begin, Statement& commit, Connection& connection)
    : commit_(commit), connection_(connection) {
  begin.run();
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself; then this fails, and that is all right.
  if (open_) sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  commit_.run();
  open_ = false;
}

}  // namespace holdfast::sqlite
