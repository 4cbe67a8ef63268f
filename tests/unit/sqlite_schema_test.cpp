#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/files.hpp"
#include "backends/sqlite/mailbox.hpp"
#include "backends/sqlite/numbers.hpp"
#include "backends/sqlite/schema.hpp"
#include "backends/sqlite/sql.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::sqlite {
namespace {

/// A machine that was booted `seconds` ago.
template <int seconds>
Machine machine(const char* boot) {
  return {.boot_id = boot, .now = [] { return base::Instant(std::chrono::seconds(seconds)); }};
}

/// A database that nobody else uses, opened and closed as often as the test wants.
class SqliteSchema : public testing::Test {
 protected:
  struct Opened {
    explicit Opened(const std::string& path)
        : files(Files::prepare(path)),
          connection(files.database, Connection::Durability::full, std::chrono::milliseconds(0)),
          mailboxes(files.mailboxes()) {}
    void prepare(const Machine& machine) { prepare_schema(connection, machine, files.log(), mailboxes); }

    const Files files;
    Connection connection;
    const Mailboxes mailboxes;
  };

  static std::int64_t number(Connection& connection, const std::string& sql) {
    Statement statement(connection, sql);
    auto rows = statement.rows();
    return rows.next() ? rows.integer(0) : -1;
  }

  static void fill(Connection& connection) {
    connection.execute(
        "INSERT INTO clients VALUES (1, 'id', 'host', 1, 'command', 'label');"
        "INSERT INTO claims VALUES ('n', 0, 0, 5, x'00', 1, 0, 0, 1, 5, 1000, 1000, 1000, 0, '', NULL, NULL, 0);"
        "INSERT INTO pools VALUES ('n', 3, 1, 1, 0);"
        "INSERT INTO watchers VALUES ('n', 1);"
        "INSERT INTO registers VALUES ('n', 4, 'value', 0)");
  }
  static std::int64_t rows_in(Connection& connection, const std::string& table) {
    return number(connection, "SELECT count(*) FROM " + table);
  }

  /// Why a database is refused.
  std::optional<spi::Failure> refusal() const {
    try {
      Opened(path_).prepare(machine<1000>("boot 1"));
    } catch (const Refusal& refusal) {
      return refusal.failure();
    }
    return std::nullopt;
  }

  const test::TemporaryDirectory directory_;
  const std::string path_ = (directory_.path() / "locks.db").string();
};

TEST_F(SqliteSchema, OfANewDatabaseStartsFromTheTimeOfDay) {
  const auto now = [] {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  };
  const std::int64_t before = now();
  Opened opened(path_);
  const Machine here = machine<1000>("boot 1");
  opened.prepare(here);
  const std::int64_t first = Numbers(here, read_range(opened.connection)).next();
  EXPECT_GE(first, before);
  EXPECT_LE(first, now());
  EXPECT_LT(read_range(opened.connection).limit, std::int64_t{1} << Numbers::bits);
  EXPECT_EQ(number(opened.connection, "SELECT mark FROM store"), 0);
}

TEST_F(SqliteSchema, IsLeftAsItIsInTheSameBoot) {
  Numbers::Range range;
  {
    Opened opened(path_);
    opened.prepare(machine<1000>("boot 1"));
    range = read_range(opened.connection);
    fill(opened.connection);
  }
  Opened opened(path_);
  const PrivateDescriptor mailbox = [&] {
    const ForkGate::Use use;
    return opened.mailboxes.open(1);
  }();
  opened.prepare(machine<2000>("boot 1"));
  EXPECT_EQ(read_range(opened.connection).base, range.base);
  EXPECT_EQ(read_range(opened.connection).limit, range.limit);
  for (const char* table : {"clients", "claims", "pools", "watchers", "registers"}) {
    EXPECT_EQ(rows_in(opened.connection, table), 1) << table;
  }
  EXPECT_TRUE(std::filesystem::exists(opened.files.mailboxes() + "/1"));
}

TEST_F(SqliteSchema, DropsClaimsAndJumpsAheadAfterABoot) {
  const Machine before = machine<1000>("boot 1");
  const Machine after = machine<5>("boot 2");
  std::int64_t last = 0;
  std::int64_t limit = 0;
  {
    Opened opened(path_);
    opened.prepare(before);
    fill(opened.connection);
    limit = read_range(opened.connection).limit;
    last = Numbers(before, read_range(opened.connection)).next();
  }
  Opened opened(path_);
  const PrivateDescriptor mailbox = [&] {
    const ForkGate::Use use;
    return opened.mailboxes.open(1);
  }();
  opened.prepare(after);
  for (const char* table : {"clients", "claims", "pools", "watchers"}) {
    EXPECT_EQ(rows_in(opened.connection, table), 0) << table;
  }
  EXPECT_EQ(number(opened.connection, "SELECT version FROM registers"), 4) << "registers stay";
  EXPECT_FALSE(std::filesystem::exists(opened.files.mailboxes() + "/1")) << "a mailbox of the boot before is nobody's";
  const std::int64_t first = Numbers(after, read_range(opened.connection)).next();
  EXPECT_GE(first, limit) << "whatever was given before, it was below the limit";
  EXPECT_GT(first, last);
  EXPECT_EQ(read_range(opened.connection).limit, limit + Numbers::reservation);
  const Numbers::Range range = read_range(opened.connection);
  opened.prepare(after);
  EXPECT_EQ(read_range(opened.connection).base, range.base) << "once per boot";
}

TEST_F(SqliteSchema, ExtendsTheRangeButNeverShortensIt) {
  Opened opened(path_);
  const Machine here = machine<1000>("boot 1");
  opened.prepare(here);
  const Numbers::Range range = read_range(opened.connection);
  EXPECT_EQ(extend_range(opened.connection, machine<1500>("boot 1")).limit, range.limit + 500'000'000);
  EXPECT_EQ(extend_range(opened.connection, here).limit, range.limit + 500'000'000);
  EXPECT_EQ(read_range(opened.connection).limit, range.limit + 500'000'000);
  EXPECT_EQ(read_range(opened.connection).base, range.base);
}

TEST_F(SqliteSchema, ConfirmsWhatAKilledProcessHasLeft) {
  {
    Opened opened(path_);
    opened.prepare(machine<1000>("boot 1"));
    EXPECT_EQ(mark(opened.connection), 1);
    EXPECT_EQ(mark(opened.connection), 2) << "of another one";
    confirm(opened.connection, 1);
    EXPECT_EQ(number(opened.connection, "SELECT mark FROM store"), 2) << "not by whoever left an older mark";
  }
  Opened opened(path_);
  opened.prepare(machine<1000>("boot 1"));
  EXPECT_EQ(number(opened.connection, "SELECT mark FROM store"), 0);
  EXPECT_EQ(number(opened.connection, "PRAGMA synchronous"), 1) << "and then commits do not wait for the disk";
}

TEST_F(SqliteSchema, OfANewerVersionIsRefused) {
  {
    Opened opened(path_);
    opened.prepare(machine<1000>("boot 1"));
    fill(opened.connection);
    opened.connection.execute("PRAGMA user_version = 4");
  }
  const auto failure = refusal();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, Errc::store_failed);
  EXPECT_NE(failure->detail.find("newer version"), std::string::npos) << failure->detail;
  Opened opened(path_);
  EXPECT_EQ(rows_in(opened.connection, "claims"), 1) << "and left as it is";
  EXPECT_EQ(number(opened.connection, "PRAGMA user_version"), 4);
}

TEST_F(SqliteSchema, OfAnOlderVersionIsRefused) {
  {
    Opened opened(path_);
    opened.prepare(machine<1000>("boot 1"));
    fill(opened.connection);
    opened.connection.execute("PRAGMA user_version = 1");
  }
  const auto failure = refusal();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, Errc::store_failed);
  EXPECT_NE(failure->detail.find("older development version"), std::string::npos) << failure->detail;
  EXPECT_NE(failure->detail.find("delete it"), std::string::npos) << failure->detail;
  Opened opened(path_);
  EXPECT_EQ(rows_in(opened.connection, "claims"), 1) << "and left as it is";
}

TEST_F(SqliteSchema, OfAnotherApplicationIsRefused) {
  for (const char* its_own : {"PRAGMA user_version = 0", "PRAGMA user_version = 1", "PRAGMA application_id = 7"}) {
    std::filesystem::remove(path_);
    {
      Opened opened(path_);
      opened.connection.execute("CREATE TABLE addresses (name TEXT); INSERT INTO addresses VALUES ('x')");
      opened.connection.execute(its_own);
    }
    const auto failure = refusal();
    ASSERT_TRUE(failure) << its_own;
    EXPECT_EQ(failure->code, Errc::store_failed);
    EXPECT_NE(failure->detail.find("another application"), std::string::npos) << failure->detail;
    Opened opened(path_);
    EXPECT_EQ(rows_in(opened.connection, "sqlite_schema"), 1) << its_own << ": left as it is";
    Statement statement(opened.connection, "PRAGMA journal_mode");
    auto rows = statement.rows();
    ASSERT_TRUE(rows.next());
    EXPECT_EQ(rows.text(0), "delete") << its_own;
  }
}

TEST_F(SqliteSchema, IsNotFoundInWhatIsNoDatabase) {
  std::ofstream(path_) << std::string(5000, 'x');
  try {
    Opened(path_).prepare(machine<1000>("boot 1"));
    ADD_FAILURE() << "not refused";
  } catch (const SqlFailure& failure) {
    EXPECT_EQ(explain(failure, path_).code, Errc::store_failed);
  }
  EXPECT_EQ(std::filesystem::file_size(path_), 5000U);
}

}  // namespace
}  // namespace holdfast::sqlite
