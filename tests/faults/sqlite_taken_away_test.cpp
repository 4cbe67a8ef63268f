// An SQLite store whose file is deleted, moved or replaced while somebody holds a lock: the holder hears within a
// renewal.

#include <filesystem>

#include "faults/sqlite_complaint.hpp"

namespace holdfast::faults {
namespace {

namespace fs = std::filesystem;
using test::ProcessPeer;
using testing::AnyOf;
using testing::StartsWith;

void remove_database(const SqliteStore& store) {
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(store.file().string() + end);
}

/// A holder of a lock in a process of its own, from whose store the file is taken away in some manner.
class SqliteFileTakenAway : public testing::Test {
 protected:
  static constexpr auto lease = 9s;
  static constexpr auto renewal_and_patience = 3s + 1s;  // of that lease

  void SetUp() override {
    ASSERT_THAT(holder_.ask("acquire a 9000 0"), StartsWith("granted"));
    ASSERT_EQ(holder_.ask("valid a"), "yes");
  }
  void expect_loss_and_recovery() {
    holder_.send("await_loss a");
    EXPECT_EQ(holder_.receive(renewal_and_patience + 500ms).value_or("not told"), "lost");
    EXPECT_EQ(holder_.ask("valid a"), "no");
    EXPECT_EQ(holder_.ask("release a"), "not_held");
    // The same client goes on with the new file, or says what is wrong.
    EXPECT_THAT(
        holder_.ask("acquire b 9000 5000"),
        AnyOf(StartsWith("granted"), StartsWith("error " + std::to_string(static_cast<int>(Errc::store_failed)))));
    // A new client finds a store that works.
    EXPECT_EQ(complaint_about(store_.url()).text, "");
  }

  SqliteStore store_;
  ProcessPeer holder_{store_.url()};
};

TEST_F(SqliteFileTakenAway, ByDeletingIt) {
  remove_database(store_);
  expect_loss_and_recovery();
}

TEST_F(SqliteFileTakenAway, ByDeletingTheDatabaseAlone) {
  fs::remove(store_.file());
  expect_loss_and_recovery();
}

TEST_F(SqliteFileTakenAway, ByDeletingEverything) {
  for (const auto& entry : fs::directory_iterator(store_.directory())) fs::remove_all(entry);
  expect_loss_and_recovery();
}

TEST_F(SqliteFileTakenAway, ByPuttingAnotherStoreInItsPlace) {
  const SqliteStore other;
  make(other);
  remove_database(store_);
  fs::copy(other.file(), store_.file());
  expect_loss_and_recovery();
}

TEST_F(SqliteFileTakenAway, ByMovingItAway) {
  fs::rename(store_.file(), store_.directory() / "moved.db");
  expect_loss_and_recovery();
}

TEST_F(SqliteFileTakenAway, WithItsDirectory) {
  const fs::path moved = store_.directory().string() + "-moved";
  fs::rename(store_.directory(), moved);
  holder_.send("await_loss a");
  EXPECT_EQ(holder_.receive(lease + 500ms).value_or("not told"), "lost") << "nobody makes it anew, so the lease ends";
  EXPECT_FALSE(fs::exists(store_.directory()));
  fs::remove_all(moved);
}

}  // namespace
}  // namespace holdfast::faults
