#include "holdfast/file_fence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fencing/syncs.hpp"
#include "support/background.hpp"
#include "support/descriptors.hpp"
#include "support/errors.hpp"
#include "support/gate.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::fencing {
namespace {

namespace fs = std::filesystem;
using test::errc_of;
using testing::ElementsAre;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class FileFenceTest : public testing::Test {
 protected:
  const test::TemporaryDirectory temporary_;
  const fs::path& directory = temporary_.path();
  const fs::path path_ = directory / "fence";
};

TEST_F(FileFenceTest, RemembersTheLargestTokenForEverybody) {
  FileFence fence(path_);
  EXPECT_TRUE(fence.admit(Token(5)));
  FileFence other(path_);
  EXPECT_EQ(other.largest(), Token(5));
  EXPECT_FALSE(other.admit(Token(4)));
  EXPECT_TRUE(other.admit(Token(5)));
  EXPECT_TRUE(other.admit(Token(UINT64_MAX)));
  EXPECT_FALSE(fence.admit(Token(UINT64_MAX - 1)));
  EXPECT_EQ(fence.largest(), Token(UINT64_MAX));
}

TEST_F(FileFenceTest, WritesAFile) {
  const Token token(256);
  FileFence fence(directory / "report.fence");
  const bool written = fence.write(token, [&] {
    std::ofstream(directory / "report.new") << "the new report";
    fs::rename(directory / "report.new", directory / "report");
  });
  EXPECT_TRUE(written);
  EXPECT_EQ(content_of(directory / "report"), "the new report");
}

TEST_F(FileFenceTest, IsMadeByTheFirstTokenForThisUserOnly) {
  FileFence fence(path_);
  EXPECT_EQ(fence.largest(), Token());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fence.admit(Token(1)));
  struct stat file{};
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
}

TEST_F(FileFenceTest, DoesNotRunARefusedWrite) {
  FileFence fence(path_);
  ASSERT_TRUE(fence.admit(Token(7)));
  bool ran = false;
  EXPECT_FALSE(fence.write(Token(6), [&] { ran = true; }));
  EXPECT_FALSE(ran);
}

TEST_F(FileFenceTest, LetsAnExceptionThroughAndKeepsTheToken) {
  FileFence fence(path_);
  EXPECT_THROW(static_cast<void>(fence.write(Token(3), [] { throw std::runtime_error("no"); })), std::runtime_error);
  EXPECT_EQ(fence.largest(), Token(3));
  EXPECT_TRUE(FileFence(path_).write(Token(3), [] {}));
}

TEST_F(FileFenceTest, StaysWhereItIsWhenTheProcessGoesElsewhere) {
  const fs::path before = fs::current_path();
  fs::current_path(directory);
  FileFence fence("fence");
  fs::current_path(before);
  EXPECT_TRUE(fence.admit(Token(1)));
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(FileFenceTest, LeavesNoDescriptorBehind) {
  const auto before = test::open_descriptors();
  FileFence fence(path_);
  EXPECT_TRUE(fence.admit(Token(2)));
  EXPECT_FALSE(fence.admit(Token(1)));
  EXPECT_THROW(static_cast<void>(fence.write(Token(3), [] { throw std::runtime_error("no"); })), std::runtime_error);
  EXPECT_EQ(fence.largest(), Token(3));
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(FileFenceTest, LetsThreadsInOneByOne) {
  FileFence fence(path_, std::chrono::minutes(2));
  int plain = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 100; ++round) static_cast<void>(fence.write(Token(1), [&] { ++plain; }));
      });
    }
  }
  EXPECT_EQ(plain, 800);
}

TEST_F(FileFenceTest, SaysWhenAnotherWriterKeepsIt) {
  FileFence fence(path_);
  test::Gate begun;
  test::Gate go_on;
  test::Background writer([&](const std::stop_token&) {
    static_cast<void>(fence.write(Token(1), [&] {
      begun.open();
      static_cast<void>(go_on.wait());
    }));
  });
  ASSERT_TRUE(begun.wait());
  FileFence impatient(path_, std::chrono::milliseconds(30));
  EXPECT_EQ(errc_of([&] { static_cast<void>(impatient.admit(Token(2))); }), Errc::unreachable);
  EXPECT_EQ(errc_of([&] { static_cast<void>(impatient.largest()); }), Errc::unreachable);
  go_on.open();
  ASSERT_TRUE(writer.finishes());
  EXPECT_EQ(impatient.largest(), Token(1));
}

// Damage

TEST_F(FileFenceTest, IsNeverResetByDamage) {
  ASSERT_TRUE(FileFence(path_).admit(Token(1234)));
  const std::string good = content_of(path_);
  std::vector<std::string> damaged = {good + "x", good + good, std::string(good.size(), '\0'), std::string(4096, 'x')};
  for (std::size_t size = 0; size < good.size(); ++size) damaged.push_back(good.substr(0, size));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {1, 8, 32}) {
      damaged.push_back(good);
      damaged.back()[at] = static_cast<char>(good[at] ^ flip);
    }
  }
  for (const std::string& content : damaged) {
    std::ofstream(path_, std::ios::binary) << content;
    FileFence fence(path_);
    bool ran = false;
    ASSERT_EQ(errc_of([&] { static_cast<void>(fence.write(Token(UINT64_MAX), [&] { ran = true; })); }),
              Errc::store_failed)
        << content;
    ASSERT_EQ(errc_of([&] { static_cast<void>(fence.admit(Token(UINT64_MAX))); }), Errc::store_failed);
    ASSERT_EQ(errc_of([&] { static_cast<void>(fence.largest()); }), Errc::store_failed);
    ASSERT_FALSE(ran);
    ASSERT_EQ(content_of(path_), content);
  }
  std::ofstream(path_, std::ios::binary) << good;
  EXPECT_EQ(FileFence(path_).largest(), Token(1234));
}

TEST_F(FileFenceTest, NamesTheDamagedFileAndSaysWhatToDo) {
  std::ofstream(path_) << "something else";
  const auto error = test::error_of([&] { static_cast<void>(FileFence(path_).largest()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), testing::AllOf(testing::HasSubstr(path_.string()), testing::HasSubstr("delete it")));
}

// Durability: neither a kill nor a power loss between two of its steps makes it forget what was acted upon.

TEST_F(FileFenceTest, SyncsTheTokenAndItsNameBeforeTheWrite) {
  FileFence fence(path_);
  static_cast<void>(Syncs::take());
  std::vector<std::string> synced;
  EXPECT_TRUE(fence.write(Token(1), [&] { synced = Syncs::take(); }));
  EXPECT_THAT(synced, ElementsAre(testing::StartsWith("fence."), directory.filename().string(), "fence"));
  EXPECT_TRUE(fence.write(Token(2), [&] { synced = Syncs::take(); }));
  EXPECT_THAT(synced, ElementsAre("fence"));
}

TEST_F(FileFenceTest, SyncsATokenOnce) {
  FileFence fence(path_);
  ASSERT_TRUE(fence.admit(Token(1)));
  static_cast<void>(Syncs::take());
  EXPECT_TRUE(fence.admit(Token(1)));
  EXPECT_FALSE(fence.admit(Token(0)));
  EXPECT_THAT(Syncs::take(), ElementsAre());
}

TEST_F(FileFenceTest, DoesNotTrustThatOthersHaveSyncedWhatItFinds) {
  ASSERT_TRUE(FileFence(path_).admit(Token(1)));  // may have been killed just before its sync
  static_cast<void>(Syncs::take());
  FileFence fence(path_);
  EXPECT_TRUE(fence.admit(Token(1)));
  EXPECT_THAT(Syncs::take(), ElementsAre(directory.filename().string(), "fence"));
}

TEST_F(FileFenceTest, DoesNotWriteWhatItCannotSync) {
  FileFence fence(path_);
  ASSERT_TRUE(fence.admit(Token(1)));
  bool ran = false;
  Syncs::fail_with(EIO);
  EXPECT_EQ(errc_of([&] { static_cast<void>(fence.write(Token(2), [&] { ran = true; })); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(fence.write(Token(2), [&] { ran = true; })); }), Errc::store_failed);
  for (const int full : {ENOSPC, EDQUOT}) {
    Syncs::fail_with(full);
    EXPECT_EQ(errc_of([&] { static_cast<void>(fence.write(Token(2), [&] { ran = true; })); }), Errc::exhausted);
  }
  EXPECT_FALSE(ran);
  Syncs::fail_with(0);
  static_cast<void>(Syncs::take());
  EXPECT_TRUE(fence.write(Token(2), [&] { ran = true; }));
  EXPECT_TRUE(ran);
  EXPECT_THAT(Syncs::take(), ElementsAre("fence"));
}

TEST_F(FileFenceTest, LeavesNothingBehindThatItCouldNotSync) {
  Syncs::fail_with(EIO);
  EXPECT_EQ(errc_of([&] { static_cast<void>(FileFence(path_).admit(Token(2))); }), Errc::store_failed);
  Syncs::fail_with(0);
  EXPECT_TRUE(fs::is_empty(directory));
}

}  // namespace
}  // namespace holdfast::fencing
