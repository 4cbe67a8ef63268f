#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace holdfast::faults {

/// A database opened behind the library's back. Do not use it in a process that has the same file open through the
/// library: closing it would drop the locks that the library's own connection has on the file.
class SqliteDatabase {
 public:
  explicit SqliteDatabase(const std::filesystem::path& file) {
    if (sqlite3_open(file.c_str(), &database_) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  }
  ~SqliteDatabase() { sqlite3_close(database_); }
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  void execute(const std::string& sql) {
    if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(database_));
    }
  }

 private:
  sqlite3* database_ = nullptr;
};

}  // namespace holdfast::faults
