// Disks and directories that do not let a FileFence do what it wants. Needs root's rights.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "holdfast/file_fence.hpp"
#include "support/errors.hpp"
#include "support/forked_child.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::fencing {
namespace {

namespace fs = std::filesystem;
using test::ChildReport;

/// What admitting the token throws; the write must then not have run.
std::optional<Errc> refusal(ChildReport& report, const fs::path& path, Token token) {
  bool ran = false;
  const auto code = test::errc_of([&] { static_cast<void>(FileFence(path).write(token, [&] { ran = true; })); });
  report.expect(ran != code.has_value(), "an error and a write, or neither");
  return code;
}

void become_an_ordinary_user(ChildReport& report) {
  report.expect(setgid(65534) == 0 && setuid(65534) == 0, "cannot change the user: this test needs root's rights");
}

/// Makes the directory a file system of its own, which nobody else sees. In a child of its own only.
void mount_on(const fs::path& directory, const char* options, ChildReport& report) {
  report.expect(unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    mount("none", directory.c_str(), "tmpfs", 0, options) == 0,
                "cannot mount a file system: this test needs root's rights");
}

/// Leaves no byte free.
void fill(const fs::path& directory) {
  std::ofstream file(directory / "filler", std::ios::binary);
  file.rdbuf()->pubsetbuf(nullptr, 0);
  while (file.put('x')) {
  }
}

class FileFenceOn : public testing::Test {
 protected:
  const test::TemporaryDirectory temporary_;
  const fs::path& directory_ = temporary_.path();
  const fs::path path_ = directory_ / "fence";
};

TEST_F(FileFenceOn, AFullDiskIsNotMadeAndLeavesNothingBehind) {
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    mount_on(directory_, "size=64k", report);
    fill(directory_);
    report.expect(refusal(report, path_, Token(1)) == Errc::exhausted, "exhausted");
    report.expect(std::distance(fs::directory_iterator(directory_), {}) == 1, "only the filler is left");
    report.expect(FileFence(path_).largest() == Token(), "no token");
    fs::remove(directory_ / "filler");
    report.expect(!refusal(report, path_, Token(1)), "it works when there is room again");
  }));
}

TEST_F(FileFenceOn, ADiskThatIsFullLaterGoesOn) {
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    mount_on(directory_, "size=64k", report);
    report.expect(!refusal(report, path_, Token(1)), "admitted");
    fill(directory_);
    report.expect(!refusal(report, path_, Token(2)), "admitted");
    report.expect(FileFence(path_).largest() == Token(2), "the new token");
    report.expect(!FileFence(path_).admit(Token(1)), "the old token is refused");
  }));
}

TEST_F(FileFenceOn, ADiskThatTakesNoByteKeepsTheOldToken) {
  ASSERT_TRUE(FileFence(path_).admit(Token(1)));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit nothing = {};
    report.expect(setrlimit(RLIMIT_FSIZE, &nothing) == 0, "setrlimit");
    report.expect(refusal(report, path_, Token(2)) == Errc::exhausted, "exhausted");
    report.expect(FileFence(path_).largest() == Token(1), "the old token");
  }));
  EXPECT_EQ(FileFence(path_).largest(), Token(1));
}

TEST_F(FileFenceOn, AReadOnlyFileSystemIsRefused) {
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    mount_on(directory_, "size=64k", report);
    report.expect(FileFence(path_).admit(Token(3)), "admitted");
    report.expect(mount("none", directory_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0, "remount");
    report.expect(refusal(report, path_, Token(4)) == Errc::access_denied, "the one that is there");
    report.expect(refusal(report, directory_ / "new", Token(4)) == Errc::access_denied, "a new one");
    report.expect(FileFence(path_).largest() == Token(3), "it can be read");
  }));
}

TEST_F(FileFenceOn, AReadOnlyDirectoryIsNotMadeButGoesOnIfItIsThere) {
  ASSERT_TRUE(FileFence(path_).admit(Token(3)));
  fs::permissions(directory_, fs::perms(0555));
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    become_an_ordinary_user(report);
    report.expect(refusal(report, directory_ / "new", Token(4)) == Errc::access_denied, "a new one");
    report.expect(!refusal(report, path_, Token(4)), "the one that is there");
  }));
  EXPECT_EQ(FileFence(path_).largest(), Token(4));
}

TEST_F(FileFenceOn, AFileOfSomebodyElseIsRefused) {
  ASSERT_TRUE(FileFence(path_).admit(Token(3)));
  fs::permissions(directory_, fs::perms(0777));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    become_an_ordinary_user(report);
    report.expect(refusal(report, path_, Token(4)) == Errc::access_denied, "writing");
    report.expect(test::errc_of([&] { static_cast<void>(FileFence(path_).largest()); }) == Errc::access_denied,
                  "reading");
  }));
}

TEST_F(FileFenceOn, ADirectoryOfEverybodyIsNotBelievedWhatAStrangerHasPutThere) {
  fs::permissions(directory_, fs::perms::all | fs::perms::sticky_bit);
  const fs::path planted = directory_ / "planted";
  ASSERT_TRUE(FileFence(path_).admit(Token(3))) << "a fence of one's own";
  const auto refused = [&](const fs::path& fence) {
    return test::errc_of([&] { static_cast<void>(FileFence(fence).admit(Token(4))); }) == Errc::access_denied &&
           test::errc_of([&] { static_cast<void>(FileFence(fence).largest()); }) == Errc::access_denied;
  };
  ASSERT_EQ(mkfifo(planted.c_str(), 0600), 0);
  EXPECT_TRUE(refused(planted)) << "a pipe that nobody writes to";
  fs::remove(planted);
  fs::create_symlink(path_, planted);
  EXPECT_TRUE(refused(planted)) << "a link to another fence";
  EXPECT_EQ(FileFence(path_).largest(), Token(3));
  fs::remove(planted);
  fs::copy_file(path_, planted);
  ASSERT_EQ(chown(planted.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(refused(planted)) << "a file of somebody else";
  ASSERT_EQ(chown(planted.c_str(), 0, 0), 0);
  fs::permissions(planted, fs::perms::others_write, fs::perm_options::add);
  EXPECT_TRUE(refused(planted)) << "a file that everybody may write";
  fs::permissions(planted, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(FileFence(planted).admit(Token(4)));
}

TEST_F(FileFenceOn, ADirectoryOfItsWritersMayBeALinkOrBelongToAnyOfThem) {
  ASSERT_TRUE(FileFence(path_).admit(Token(3)));
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  fs::create_symlink(path_, directory_ / "link");
  EXPECT_TRUE(FileFence(directory_ / "link").admit(Token(4)));
  EXPECT_EQ(FileFence(path_).largest(), Token(4));
}

TEST_F(FileFenceOn, AMissingDirectoryOrADirectoryIsAnError) {
  EXPECT_EQ(test::errc_of([&] { static_cast<void>(FileFence(directory_ / "no" / "fence").admit(Token(1))); }),
            Errc::store_failed);
  EXPECT_EQ(test::errc_of([&] { static_cast<void>(FileFence(directory_).admit(Token(1))); }), Errc::store_failed);
}

}  // namespace
}  // namespace holdfast::fencing
