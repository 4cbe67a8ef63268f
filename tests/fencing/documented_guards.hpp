#pragma once

#include <filesystem>
#include <string>

#include "fencing/document.hpp"
#include "fencing/harness.hpp"
#include "support/etcd_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::fencing {

// The guards of docs/fencing.md, each on a server or a database of its own. Unless told otherwise they run what the
// page says.

/// In a table of a SQLite database.
class InASqlRow : public Guarded {
 public:
  explicit InASqlRow(std::string statement, const std::string& table = documented("sqlite-table"));
  bool write(Token token, const std::string& value) override;
  std::string value() override;

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
  std::string statement_;
};

class InRedis : public Guarded {
 public:
  explicit InRedis(const std::string& script = documented("redis-script"));
  bool write(Token token, const std::string& value) override;
  std::string value() override;
  /// What the command prints.
  std::string answer(const std::string& command, Token token, const std::string& value);

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
  test::RedisServer server_;
};

/// `script` is one of the page's two.
class InEtcd : public Guarded {
 public:
  explicit InEtcd(std::string script) : script_(std::move(script)) {}
  bool write(Token token, const std::string& value) override;
  std::string value() override;

 private:
  test::TemporaryDirectory directory_{test::memory_directory()};
  test::EtcdServer server_;
  std::string script_;
};

}  // namespace holdfast::fencing
