#include "crash/bare_sqlite.hpp"

#include <stdexcept>

namespace holdfast::crash {

BareSqlite::BareSqlite(const std::filesystem::path& file, const char* vfs) {
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(file.c_str(), &connection_, flags, vfs) != SQLITE_OK) {
    const std::string message = sqlite3_errmsg(connection_);
    sqlite3_close(connection_);
    throw std::runtime_error(message);
  }
}

BareSqlite::~BareSqlite() { sqlite3_close(connection_); }

std::vector<std::string> BareSqlite::query(const std::string& sql) {
  std::vector<std::string> rows;
  const auto add_row = [](void* to, int columns, char** values, char**) {
    if (columns > 0) static_cast<std::vector<std::string>*>(to)->emplace_back(values[0] != nullptr ? values[0] : "");
    return 0;
  };
  if (sqlite3_exec(connection_, sql.c_str(), add_row, &rows, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(connection_));
  }
  return rows;
}

std::string integrity_of(const std::filesystem::path& file) {
  try {
    std::string all;
    for (const std::string& row : BareSqlite(file, "unix").query("PRAGMA integrity_check")) {
      all += (all.empty() ? "" : "; ") + row;
    }
    return all;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace holdfast::crash
