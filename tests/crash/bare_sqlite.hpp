#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::crash {

/// A connection with nothing between the test and SQLite.
class BareSqlite {
 public:
  /// `vfs` null: the default one. Throws when it cannot be opened.
  explicit BareSqlite(const std::filesystem::path& file, const char* vfs = nullptr);
  ~BareSqlite();
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;

  /// The first column of all rows. Throws std::runtime_error with SQLite's message.
  std::vector<std::string> query(const std::string& sql);

 private:
  sqlite3* connection_ = nullptr;
};

/// What SQLite itself says of a file: "ok", or what is wrong. Recovers and closes it, which may change the file.
std::string integrity_of(const std::filesystem::path& file);

}  // namespace holdfast::crash
