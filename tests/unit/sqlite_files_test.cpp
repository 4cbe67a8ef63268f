#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/files.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::sqlite {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  const mode_t before_;
};

/// Why prepare() refuses; empty if it does not.
std::optional<spi::Failure> refusal_of(const fs::path& path) {
  try {
    Files::prepare(path.string());
  } catch (const Refusal& refusal) {
    return refusal.failure();
  }
  return std::nullopt;
}

void write_file(const fs::path& path, const std::string& text = {}) { std::ofstream(path) << text; }

TEST(SqliteFiles, BelongToTheirOwnerOnlyWhateverTheUmask) {
  for (const mode_t mask : {0U, 0022U, 0027U, 0077U}) {
    const test::TemporaryDirectory directory;
    const fs::path path = directory.path() / "locks.db";
    {
      const Umask umask(mask);
      const Database database(path.string(), Machine::real());
      EXPECT_EQ(mode_of(path), 0600U) << std::oct << mask;
      for (const char* companion : {"-wal", "-shm", "-journal", "-alive"}) {
        EXPECT_EQ(mode_of(path.string() + companion), 0600U) << companion << std::oct << mask;
      }
      EXPECT_EQ(mode_of(path.string() + "-mailboxes"), 0700U) << std::oct << mask;
    }
  }
}

TEST(SqliteFiles, AreNotMadeInADirectoryThatDoesNotExist) {
  const test::TemporaryDirectory directory;
  for (const char* name : {"new/locks.db", "new/newer/locks.db", "new/../locks.db"}) {
    const auto failure = refusal_of(directory.path() / name);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->code, Errc::bad_url);
    EXPECT_NE(failure->detail.find("/new' does not exist"), std::string::npos) << failure->detail;
    EXPECT_TRUE(fs::is_empty(directory.path())) << name;
  }
}

TEST(SqliteFiles, AreFoundAsTheyAre) {
  const test::TemporaryDirectory directory;
  const fs::path path = directory.path() / "locks.db";
  const Files made = Files::prepare(path.string());
  write_file(path, "kept");
  const Files found = Files::prepare(path.string());
  EXPECT_EQ(found.database, made.database);
  EXPECT_EQ(fs::file_size(path), 4U);
}

TEST(SqliteFiles, AreOneStoreWhateverTheLinkToTheDatabase) {
  const test::TemporaryDirectory directory;
  const fs::path real = directory.path() / "real";
  fs::create_directory(real);
  fs::create_directory_symlink(real, directory.path() / "linked");
  const Files made = Files::prepare((real / "locks.db").string());
  fs::create_symlink(real / "locks.db", directory.path() / "link.db");
  fs::create_symlink("link.db", directory.path() / "link to link.db");
  for (const char* name : {"link.db", "link to link.db", "linked/locks.db", "real/../linked/./locks.db"}) {
    const Files files = Files::prepare((directory.path() / name).string());
    EXPECT_EQ(files.database, made.database) << name;
    EXPECT_EQ(files.mailboxes(), made.mailboxes()) << name;
    EXPECT_EQ(files.lifelines(), made.lifelines()) << name;
  }
  EXPECT_FALSE(fs::exists(directory.path() / "link.db-mailboxes"))
      << "companions are beside the file, not beside a link";
}

TEST(SqliteFiles, AreRefusedBehindALinkToNothing) {
  const test::TemporaryDirectory directory;
  fs::create_symlink(directory.path() / "nothing.db", directory.path() / "link.db");
  const auto failure = refusal_of(directory.path() / "link.db");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, Errc::store_failed);
  EXPECT_FALSE(fs::exists(directory.path() / "nothing.db"));
}

TEST(SqliteFiles, AreRefusedIfTheDatabaseHasTwoNames) {
  const test::TemporaryDirectory directory;
  const fs::path path = directory.path() / "locks.db";
  Files::prepare(path.string());
  fs::create_hard_link(path, directory.path() / "other.db");
  for (const char* name : {"locks.db", "other.db"}) {
    const auto failure = refusal_of(directory.path() / name);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->code, Errc::store_failed);
    EXPECT_NE(failure->detail.find("hard link"), std::string::npos) << failure->detail;
  }
  fs::remove(directory.path() / "other.db");
  EXPECT_FALSE(refusal_of(path)) << "and then it has one";
}

TEST(SqliteFiles, AreRefusedIfTheDatabaseIsNoFile) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory.path() / "directory.db");
  ASSERT_EQ(::mkfifo((directory.path() / "pipe.db").c_str(), 0600), 0);
  for (const char* name : {"directory.db", "pipe.db"}) {
    const auto failure = refusal_of(directory.path() / name);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->code, Errc::store_failed);
    EXPECT_NE(failure->detail.find("is not a file"), std::string::npos) << failure->detail;
  }
}

TEST(SqliteFiles, AreRefusedInAFile) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "file");
  for (const char* name : {"file/locks.db", "file/deeper/locks.db"}) {
    const auto failure = refusal_of(directory.path() / name);
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->code, Errc::store_failed);
  }
}

TEST(SqliteFiles, AreSeenToBeReplaced) {
  const test::TemporaryDirectory directory;
  const fs::path path = directory.path() / "locks.db";
  using Change = std::function<void(const fs::path&)>;
  const Change remove = [](const fs::path& file) { fs::remove(file); };
  const Change replace = [](const fs::path& file) {
    write_file(file.string() + ".new");
    fs::rename(file.string() + ".new", file);
  };
  for (const char* companion : {"", "-wal", "-shm", "-alive"}) {
    for (const Change& change : {remove, replace}) {
      const Files files = Files::prepare(path.string());
      for (const char* each : {"-wal", "-shm", "-alive"}) write_file(path.string() + each);
      const FileIdentities identities(files);
      EXPECT_TRUE(identities.still_there());
      change(path.string() + companion);
      EXPECT_FALSE(identities.still_there()) << companion;
    }
  }
}

}  // namespace
}  // namespace holdfast::sqlite
