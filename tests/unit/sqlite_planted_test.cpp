#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/mailbox.hpp"
#include "backends/sqlite/safe_path.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::sqlite {
namespace {

namespace fs = std::filesystem;

/// What another user could have put under the names of a store, in a directory that both may write.
class SqlitePlanted : public testing::Test {
 protected:
  SqlitePlanted() { fs::permissions(directory_.path(), fs::perms::all | fs::perms::sticky_bit); }

  std::optional<spi::Failure> refusal() const {
    try {
      const Database database(path_, Machine::real());
    } catch (const Refusal& refusal) {
      return refusal.failure();
    }
    return std::nullopt;
  }

  void expect_refused(Errc code, const std::string& named) const {
    const auto failure = refusal();
    ASSERT_TRUE(failure) << named;
    EXPECT_EQ(failure->code, code) << failure->detail;
    EXPECT_NE(failure->detail.find(named), std::string::npos) << failure->detail;
  }

  /// A socket that somebody listens at.
  static void make_socket(const fs::path& path) {
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.string().size(), sizeof(address.sun_path));
    std::strcpy(address.sun_path, path.c_str());
    ASSERT_EQ(::bind(made, reinterpret_cast<const struct sockaddr*>(&address), sizeof(address)), 0);
    ::close(made);
  }

  const test::TemporaryDirectory directory_;
  const std::string path_ = (directory_.path() / "l.db").string();
  static constexpr uid_t somebody = 54321;
};

TEST_F(SqlitePlanted, LinkInPlaceOfTheMailboxesIsRefusedAndNothingBehindItIsRemoved) {
  const test::TemporaryDirectory other;
  make_socket(other.path() / "service.sock");
  make_socket(other.path() / "4711");
  fs::create_directory_symlink(other.path(), path_ + "-mailboxes");
  expect_refused(Errc::store_failed, "l.db-mailboxes");
  EXPECT_TRUE(fs::exists(other.path() / "service.sock"));
  EXPECT_TRUE(fs::exists(other.path() / "4711"));
}

TEST_F(SqlitePlanted, MailboxesThatOthersMayEnterAreRefused) {
  for (const mode_t mode : {0701U, 0710U, 0702U, 0720U, 0777U}) {
    ASSERT_EQ(::mkdir((path_ + "-mailboxes").c_str(), 0700), 0);
    ASSERT_EQ(::chmod((path_ + "-mailboxes").c_str(), mode), 0);
    expect_refused(Errc::access_denied, "l.db-mailboxes");
    fs::remove(path_ + "-mailboxes");
  }
}

TEST_F(SqlitePlanted, FilesAmongTheMailboxesAreLeftAlone) {
  ASSERT_EQ(::mkdir((path_ + "-mailboxes").c_str(), 0700), 0);
  const fs::path mailboxes = path_ + "-mailboxes";
  make_socket(mailboxes / "1");
  make_socket(mailboxes / "service.sock");
  std::ofstream(mailboxes / "2") << "a file";
  fs::create_symlink(mailboxes / "service.sock", mailboxes / "3");
  EXPECT_FALSE(refusal());
  EXPECT_FALSE(fs::exists(mailboxes / "1")) << "a mailbox of an older database";
  EXPECT_TRUE(fs::exists(mailboxes / "service.sock"));
  EXPECT_TRUE(fs::exists(mailboxes / "2"));
  EXPECT_TRUE(fs::is_symlink(mailboxes / "3"));
}

TEST_F(SqlitePlanted, LinksInPlaceOfFilesAreRefused) {
  const fs::path precious = directory_.path() / "precious";
  for (const char* companion : {"-wal", "-shm", "-journal", "-alive"}) {
    std::ofstream(precious) << "precious";
    fs::remove(path_ + companion);
    fs::create_symlink(precious, path_ + companion);
    expect_refused(Errc::store_failed, companion);
    fs::remove(path_ + companion);
    fs::create_symlink(directory_.path() / "new", path_ + companion);
    expect_refused(Errc::store_failed, companion);
    EXPECT_FALSE(fs::exists(directory_.path() / "new")) << companion;
    fs::remove(path_ + companion);
    fs::create_hard_link(precious, path_ + companion);
    expect_refused(Errc::store_failed, companion);
    fs::remove(path_ + companion);
    EXPECT_EQ(fs::file_size(precious), 8U) << companion;
  }
}

TEST_F(SqlitePlanted, FilesThatOthersMayWriteAreRefused) {
  ASSERT_FALSE(refusal());
  for (const char* file : {"", "-wal", "-shm", "-journal", "-alive"}) {
    fs::permissions(path_ + file, fs::perms::others_write, fs::perm_options::add);
    expect_refused(Errc::access_denied, std::string("l.db") + file);
    fs::permissions(path_ + file, fs::perms::others_write, fs::perm_options::remove);
  }
  EXPECT_FALSE(refusal());
}

TEST_F(SqlitePlanted, FilesOfSomebodyElseAreRefused) {
  if (::geteuid() != 0) {  // who cannot give files away, but finds those of root
    EXPECT_THROW(Mailboxes("/etc"), Refusal);
    EXPECT_THROW(Files::prepare("/etc/passwd"), Refusal);
    return;
  }
  ASSERT_FALSE(refusal());
  for (const char* file : {"", "-wal", "-shm", "-journal", "-alive", "-mailboxes"}) {
    ASSERT_EQ(::chown((path_ + file).c_str(), somebody, somebody), 0);
    expect_refused(Errc::access_denied, std::string("l.db") + file);
    ASSERT_EQ(::chown((path_ + file).c_str(), 0, 0), 0);
  }
  EXPECT_FALSE(refusal());
}

TEST_F(SqlitePlanted, LinkOfSomebodyElseIsNotFollowed) {
  const test::TemporaryDirectory other;
  std::ofstream(other.path() / "empty").flush();
  fs::create_symlink(other.path() / "empty", path_);
  EXPECT_EQ(resolve(path_), fs::canonical(other.path() / "empty")) << "our own link is";
  if (::geteuid() != 0) return;  // only root can give it away
  ASSERT_EQ(::lchown(path_.c_str(), somebody, somebody), 0);
  expect_refused(Errc::access_denied, "symbolic link");
  EXPECT_EQ(fs::file_size(other.path() / "empty"), 0U);
  EXPECT_FALSE(fs::exists(other.path() / "empty-mailboxes"));
}

TEST_F(SqlitePlanted, DirectoryWhereOthersCouldReplaceFilesIsRefused) {
  fs::permissions(directory_.path(), fs::perms::all);
  expect_refused(Errc::access_denied, directory_.path().string());
  EXPECT_TRUE(fs::is_empty(directory_.path()));
  fs::permissions(directory_.path(), fs::perms::owner_all | fs::perms::group_all);
  EXPECT_FALSE(refusal()) << "this user's own group";
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(directory_.path().c_str(), 0, somebody), 0);
  expect_refused(Errc::access_denied, directory_.path().string());
  fs::permissions(directory_.path(), fs::perms::owner_all);
  EXPECT_FALSE(refusal());
  ASSERT_EQ(::chown(directory_.path().c_str(), somebody, 0), 0);
  expect_refused(Errc::access_denied, "belongs to user");
}

TEST_F(SqlitePlanted, NamesAreTakenFromTheBeginning) {
  ASSERT_FALSE(refusal());
  for (const char* file : {"-wal", "-shm", "-journal", "-alive"}) EXPECT_TRUE(fs::exists(path_ + file)) << file;
  EXPECT_EQ(fs::file_size(path_ + "-journal"), 0U);
  EXPECT_FALSE(refusal()) << "again";
  EXPECT_EQ(fs::file_size(path_ + "-journal"), 0U);
}

}  // namespace
}  // namespace holdfast::sqlite
