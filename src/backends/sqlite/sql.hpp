#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "spi/claims.hpp"

namespace holdfast::sqlite {

/// What SQLite complained about. Thrown inside a transaction, and turned into a spi::Failure outside of it.
class SqlFailure : public std::exception {
 public:
  SqlFailure(int code, int system_error, std::string message)
      : code_(code), system_error_(system_error), message_(std::move(message)) {}

  int code() const { return code_; }  ///< SQLite's extended result code
  int system_error() const { return system_error_; }
  const char* what() const noexcept override { return message_.c_str(); }
  /// Somebody else is writing: nothing happened.
  bool busy() const;

 private:
  int code_;
  int system_error_;
  std::string message_;
};

/// The database contradicts itself, or holds what nobody has written: throws the SqlFailure of a damaged one. SQLite
/// notices only some of all damages.
[[noreturn]] void fail_as_damaged(const std::string& what);

/// One connection to a database. Not thread-safe.
class Connection {
 public:
  /// How much of a commit survives a power loss: `full`, all of it; `normal`, what was written before the last one that
  /// was full. Neither damages the file.
  enum class Durability { normal, full };

  /// Opens a file that exists, at a path without symbolic links. `busy_wait`: see set_busy_wait(). Throws SqlFailure.
  Connection(const std::string& path, Durability durability, std::chrono::milliseconds busy_wait);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void set_durability(Durability durability);
  /// How long a transaction waits, at its beginning, for another writer.
  void set_busy_wait(std::chrono::milliseconds wait);

  /// Runs statements without arguments or results. Throws SqlFailure.
  void execute(const char* sql);

  sqlite3* handle() const { return handle_; }
  /// How long the write-ahead log was, in pages, when this connection last committed.
  int log_pages() const { return log_pages_; }
  [[noreturn]] void fail() const;

 private:
  sqlite3* handle_ = nullptr;
  int log_pages_ = 0;
  std::chrono::milliseconds busy_wait_ = {};
  std::chrono::steady_clock::time_point waiting_since_ = {};
};

/// A statement that is prepared once and run often.
class Statement {
 public:
  /// REQUIRES: `connection` outlives it. Throws SqlFailure.
  Statement(Connection& connection, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// The rows of one run; ends it when destroyed. At most one per statement at a time.
  class Rows {
   public:
    explicit Rows(Statement& statement) : statement_(statement) {}
    ~Rows();
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    /// Throws SqlFailure.
    bool next();
    std::int64_t integer(int column) const;
    /// A number that must be there and in this range; else the database is damaged.
    std::int64_t integer(int column, std::int64_t smallest, std::int64_t largest) const;
    std::string_view text(int column) const;  ///< good until next()
    bool null(int column) const;
    spi::ClaimId claim_id(int column) const;

   private:
    Statement& statement_;
  };

  /// Texts must be good until the rows are gone.
  template <class... Values>
  Rows rows(const Values&... values) {
    // NOLINTNEXTLINE(misc-const-correctness): it counts, unless there are no values
    int index = 0;
    (bind(++index, values), ...);
    return Rows(*this);
  }

  /// For statements that have no rows.
  template <class... Values>
  void run(const Values&... values) {
    rows(values...).next();
  }

  /// For statements that change one row, which is known to be there.
  template <class... Values>
  void change_one(const Values&... values) {
    run(values...);
    check_one_changed();
  }

 private:
  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view value);
  void bind(int index, const spi::ClaimId& id);
  void check(int result) const;
  void check_one_changed() const;

  Connection& connection_;
  sqlite3_stmt* handle_ = nullptr;
};

/// A transaction that writes; rolled back unless it is committed.
class Transaction {
 public:
  /// Throws SqlFailure; SqlFailure::busy() if another connection writes.
  explicit Transaction(Statement& begin, Statement& commit, Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Statement& commit_;
  Connection& connection_;
  bool open_ = true;
};

}  // namespace holdfast::sqlite
