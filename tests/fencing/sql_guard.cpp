// InASqlRow: the statements of docs/fencing.md on SQLite's own library, with named parameters.

#include <sqlite3.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "fencing/documented_guards.hpp"

namespace holdfast::fencing {
namespace {

/// A connection for one call: sqlite3_changes() counts for a connection, and threads must not share one.
class Connection {
 public:
  explicit Connection(const std::filesystem::path& file) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(file.c_str(), &opened);
    database_.reset(opened);
    check(code);
    sqlite3_busy_timeout(opened, 20'000);
    execute("PRAGMA synchronous = OFF");
  }

  /// How many rows it changed.
  int execute(const std::string& sql, const std::map<std::string, std::string>& parameters = {}) {
    run(sql, parameters);
    return sqlite3_changes(database_.get());
  }

  /// The first column of the first row; empty if there is none.
  std::string ask(const std::string& sql) { return run(sql, {}); }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  std::string run(const std::string& sql, const std::map<std::string, std::string>& parameters) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &prepared, nullptr));
    const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
    for (const auto& [name, value] : parameters) {
      const int index = sqlite3_bind_parameter_index(prepared, name.c_str());
      if (index == 0) throw std::runtime_error("no parameter " + name + " in: " + sql);
      check(sqlite3_bind_text(prepared, index, value.c_str(), -1, SQLITE_TRANSIENT));
    }
    std::string first;
    int code = sqlite3_step(prepared);
    if (code == SQLITE_ROW) first = reinterpret_cast<const char*>(sqlite3_column_text(prepared, 0));
    while (code == SQLITE_ROW) code = sqlite3_step(prepared);
    if (code != SQLITE_DONE) check(code);
    return first;
  }

  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_.get()));
  }

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace

InASqlRow::InASqlRow(std::string statement, const std::string& table) : statement_(std::move(statement)) {
  Connection connection(directory_.path() / "data.db");
  connection.execute(table);
  if (statement_.starts_with("UPDATE")) connection.execute("INSERT INTO report (id, body) VALUES (1, '')");
}

bool InASqlRow::write(Token token, const std::string& value) {
  std::string digits = to_string(token);
  digits.insert(0, 20 - digits.size(), '0');
  Connection connection(directory_.path() / "data.db");
  const int rows = connection.execute(statement_, {{":id", "1"}, {":body", value}, {":token", digits}});
  if (rows != 0 && rows != 1) throw std::runtime_error(std::to_string(rows) + " rows were changed");
  return rows == 1;
}

std::string InASqlRow::value() {
  return Connection(directory_.path() / "data.db").ask("SELECT body FROM report WHERE id = 1");
}

}  // namespace holdfast::fencing
