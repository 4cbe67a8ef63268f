// Files that cannot be an SQLite store: no permission, no space; damaged, foreign, too new. Each with the right error.

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

#include "faults/sqlite_complaint.hpp"
#include "support/forked_child.hpp"

namespace holdfast::faults {
namespace {

namespace fs = std::filesystem;
using test::ChildReport;
using testing::ContainsRegex;
using testing::HasSubstr;

void write_to(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Ordinary users are refused by permissions; the superuser is not.
void become_an_ordinary_user(ChildReport& report) {
  if (geteuid() != 0) return;
  constexpr unsigned nobody = 65534;
  report.expect(setgid(nobody) == 0 && setuid(nobody) == 0, "cannot become an ordinary user");
}

void expect_complaint(ChildReport& report, const std::string& url, Errc code, const std::string& word) {
  const Complaint complaint = complaint_about(url);
  report.expect(complaint.code == code, "unexpected answer: " + (complaint.code ? complaint.text : "none"));
  report.expect(complaint.text.find(word) != std::string::npos, "'" + complaint.text + "' does not name " + word);
}

TEST(SqliteFile, InADirectoryThatCannotBeWrittenIsRefused) {
  const SqliteStore store;
  fs::permissions(store.directory(), fs::perms(0555));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    become_an_ordinary_user(report);
    expect_complaint(report, store.url(), Errc::access_denied, store.directory().string());
  }));
  fs::permissions(store.directory(), fs::perms(0700));
}

TEST(SqliteFile, InADirectoryThatCannotBeEnteredIsRefused) {
  const SqliteStore store;
  make(store);
  fs::permissions(store.directory(), fs::perms(0));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    become_an_ordinary_user(report);
    expect_complaint(report, store.url(), Errc::access_denied, store.directory().string());
  }));
  fs::permissions(store.directory(), fs::perms(0700));
}

TEST(SqliteFile, ThatCannotBeWrittenIsRefused) {
  const SqliteStore store;
  make(store);
  fs::permissions(store.directory(), fs::perms(0755));
  fs::permissions(store.file(), fs::perms(0444));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    become_an_ordinary_user(report);
    expect_complaint(report, store.url(), Errc::access_denied, store.file().string());
  }));
}

/// Makes the store's directory a file system of its own, which nobody else sees. In a child of its own only.
void mount_on(const fs::path& directory, const char* options, ChildReport& report) {
  report.expect(unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    mount("none", directory.c_str(), "tmpfs", 0, options) == 0,
                "cannot mount a file system: this test needs root's rights, or must be excluded by name");
}

TEST(SqliteFile, OnAFileSystemThatIsReadOnlyIsRefused) {
  const SqliteStore store;
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    mount_on(store.directory(), "size=1m", report);
    report.expect(mount("none", store.directory().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0, "remount");
    expect_complaint(report, store.url(), Errc::access_denied, store.directory().string());
  }));
}

/// Leaves no byte free.
void fill(const fs::path& directory) {
  std::ofstream file(directory / "filler", std::ios::binary);
  file.rdbuf()->pubsetbuf(nullptr, 0);
  while (file.put('x')) {
  }
}

TEST(SqliteFile, OnAFullDiskIsRefused) {
  const SqliteStore store;
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    mount_on(store.directory(), "size=256k", report);
    fill(store.directory());
    expect_complaint(report, store.url(), Errc::exhausted, store.directory().string());
    fs::remove(store.directory() / "filler");
    report.expect(!complaint_about(store.url()).code, "it does not work when there is room again");
  }));
}

TEST(SqliteFile, OnADiskThatIsFullWhenTheStoreGrowsIsRefused) {
  const SqliteStore store;
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    mount_on(store.directory(), "size=512k", report);
    Client client(store.url());
    Mutex first(client, "first", {.ttl = 2s});
    const Hold hold = first.acquire();
    fill(store.directory());
    Complaint complaint;
    for (int i = 0; i < 2000 && !complaint.code; ++i) {  // each leaves a name of 400 bytes behind
      complaint = complaint_of([&] {
        Mutex mutex(client, std::string(400, 'x') + std::to_string(i));
        if (auto mine = mutex.try_acquire()) static_cast<void>(mine->release());
      });
    }
    report.expect(complaint.code == Errc::exhausted, "unexpected answer: " + complaint.text);
    report.expect(test::eventually(10s, [&] { return hold.valid() != hold.stop_token().stop_requested(); }),
                  "a hold must be either valid or told that it is not");
    fs::remove(store.directory() / "filler");
    report.expect(!complaint_of([&] { static_cast<void>(Mutex(client, "next").try_acquire_for(10s)); }).code,
                  "it does not work when there is room again");
  }));
}

TEST(SqliteFile, OfGarbageIsRefused) {
  const SqliteStore store;
  std::string garbage;
  for (int i = 0; i < 20'000; ++i) garbage += static_cast<char>(i * 7919 >> 3);
  write_to(store.file(), garbage);
  const Complaint complaint = complaint_about(store.url());
  EXPECT_EQ(complaint.code, Errc::store_failed) << complaint.text;
  EXPECT_THAT(complaint.text, HasSubstr(store.file().string()));
  EXPECT_EQ(content_of(store.file()), garbage) << "it was changed";
}

TEST(SqliteFile, ThatWasCutOffIsRefused) {
  const SqliteStore store;
  make(store);
  const auto size = fs::file_size(store.file());
  ASSERT_GT(size, 4096U) << "the store has not been written into its main file";
  for (const auto left : {size - 4096, std::uintmax_t{4096}, std::uintmax_t{100}, std::uintmax_t{17}}) {
    const SqliteStore cut;
    write_to(cut.file(), content_of(store.file()).substr(0, left));
    const Complaint complaint = complaint_about(cut.url());
    EXPECT_EQ(complaint.code, Errc::store_failed) << left << " bytes of " << size << ": " << complaint.text;
  }
}

TEST(SqliteFile, WithDamageInTheMiddleIsRefused) {
  const SqliteStore store;
  make(store);
  std::string content = content_of(store.file());
  ASSERT_GT(content.size(), 8192U);
  for (std::size_t at = 4096; at < content.size(); ++at) content[at] = static_cast<char>(at * 31);
  const SqliteStore damaged;
  write_to(damaged.file(), content);
  const Complaint complaint = complaint_about(damaged.url());
  EXPECT_EQ(complaint.code, Errc::store_failed) << complaint.text;
}

TEST(SqliteFile, OfANewerVersionIsRefused) {
  const SqliteStore store;
  make(store);
  SqliteDatabase(store.file()).execute("PRAGMA user_version = 99");
  const Complaint complaint = complaint_about(store.url());
  EXPECT_EQ(complaint.code, Errc::store_failed) << complaint.text;
  EXPECT_THAT(complaint.text, ContainsRegex("newer.*99"));
}

TEST(SqliteFile, OfAnotherApplicationIsRefusedAndLeftAlone) {
  const SqliteStore store;
  SqliteDatabase(store.file()).execute("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('me')");
  fs::permissions(store.file(), fs::perms(0600));
  const std::string before = content_of(store.file());
  const Complaint complaint = complaint_about(store.url());
  EXPECT_EQ(complaint.code, Errc::store_failed) << complaint.text;
  EXPECT_THAT(complaint.text, HasSubstr("another application"));
  EXPECT_EQ(content_of(store.file()), before);
}

TEST(SqliteFile, ThatIsADirectoryIsRefused) {
  const SqliteStore store;
  fs::create_directory(store.file());
  EXPECT_EQ(complaint_about(store.url()).code, Errc::store_failed);
}

TEST(SqliteFile, ThatIsNotNamedIsABadUrl) {
  for (const char* url : {"sqlite:", "sqlite:?", "sqlite:/", "sqlite:/tmp/", "sqlite:/tmp/a%zz", "sqlite:/tmp/a%00b",
                          "sqlite:/tmp/a.db?no_such_option=1", "sqlite://host/tmp/a.db"}) {
    const Complaint complaint = complaint_of([&] { const Client client(url); });
    EXPECT_EQ(complaint.code, Errc::bad_url) << url << ": " << complaint.text;
  }
}

}  // namespace
}  // namespace holdfast::faults
