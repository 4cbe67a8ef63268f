#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "backends/sqlite/fork_gate.hpp"
#include "backends/sqlite/lifelines.hpp"
#include "base/file_descriptor.hpp"
#include "support/descriptor_passing.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::sqlite {
namespace {

/// Lifelines with the ForkGate::Use that their calls require.
class Lines {
 public:
  explicit Lines(const std::string& path) : handle_(open(path)) {}
  ~Lines() {
    const ForkGate::Use use;
    Lifelines::Handle(std::move(handle_));
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  bool take(ClientNumber client) {
    const ForkGate::Use use;
    return (*handle_).take(client);
  }
  void drop(ClientNumber client) {
    const ForkGate::Use use;
    (*handle_).drop(client);
  }
  bool alive(ClientNumber client) const {
    const ForkGate::Use use;
    return (*handle_).alive(client);
  }
  int share(ClientNumber client) {
    const ForkGate::Use use;
    return (*handle_).share(client);
  }

 private:
  static Lifelines::Handle open(const std::string& path) {
    const ForkGate::Use use;
    return Lifelines::in(path);
  }
  Lifelines::Handle handle_;
};

class SqliteLifelines : public testing::Test {
 protected:
  /// As another process sees it.
  bool alive_elsewhere(ClientNumber client) const {
    return test::succeeds_in_forked_child(
        [&](test::ChildReport& report) { report.expect(Lines(path_).alive(client), "not alive"); });
  }

  const test::TemporaryDirectory directory_;
  const std::string path_ = (directory_.path() / "alive").string();
};

TEST_F(SqliteLifelines, AreTakenOnce) {
  Lines lines(path_);
  EXPECT_FALSE(lines.alive(7));
  EXPECT_TRUE(lines.take(7));
  EXPECT_TRUE(lines.alive(7));
  EXPECT_FALSE(lines.take(7));
  EXPECT_FALSE(lines.alive(6));
  EXPECT_FALSE(lines.alive(8));
  lines.drop(7);
  EXPECT_FALSE(lines.alive(7));
  lines.drop(7);
  EXPECT_TRUE(lines.take(7)) << "and may be taken again";
}

TEST_F(SqliteLifelines, ReachAsFarAsNumbersDo) {
  Lines lines(path_);
  constexpr ClientNumber largest = (ClientNumber{1} << 56) - 1;
  EXPECT_TRUE(lines.take(largest));
  EXPECT_TRUE(alive_elsewhere(largest));
  EXPECT_FALSE(lines.alive(largest - 1));
}

TEST_F(SqliteLifelines, AreSharedByTheUsersOfOneProcess) {
  Lines first(path_);
  EXPECT_TRUE(first.take(7));
  {
    Lines second(path_);
    EXPECT_TRUE(second.alive(7));
    EXPECT_FALSE(second.take(7));
    EXPECT_TRUE(second.take(8));
    second.drop(8);
  }
  EXPECT_TRUE(alive_elsewhere(7)) << "closing a file would end all locks in it; it is not closed";
}

TEST_F(SqliteLifelines, AreSeenByAForkedChildThatHasNoneOfThem) {
  Lines lines(path_);
  EXPECT_TRUE(lines.take(7));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](test::ChildReport& report) {
    report.expect(lines.alive(7), "the parent is alive");
    report.expect(!lines.take(7), "its number is taken");
    lines.drop(7);
    report.expect(lines.alive(7), "and not the child's to drop");
    Lines own(path_);
    report.expect(own.alive(7), "the same by a handle of its own");
    report.expect(own.take(8), "the child has others");
  }));
  EXPECT_TRUE(lines.alive(7));
  EXPECT_TRUE(alive_elsewhere(7)) << "the child's end is not the parent's";
  EXPECT_FALSE(lines.alive(8)) << "the child's own ends with it";
}

TEST_F(SqliteLifelines, OfOthersStayWhenOneIsShared) {
  Lines lines(path_);
  ASSERT_TRUE(lines.take(7));
  ASSERT_TRUE(lines.take(8));
  EXPECT_GE(lines.share(7), 0);
  EXPECT_FALSE(lines.take(7));
  EXPECT_TRUE(alive_elsewhere(7));
  EXPECT_TRUE(alive_elsewhere(8));
  lines.drop(8);
  EXPECT_FALSE(lines.alive(8));
}

TEST_F(SqliteLifelines, OfADeadProcessLastAsLongAsACopyOfASharedOne) {
  Lines lines(path_);
  int ends[2] = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const base::FileDescriptor near(ends[0]);
  base::FileDescriptor far(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    Lines own(path_);
    if (!own.take(9) || !test::send_descriptor(far.get(), own.share(9))) _exit(1);
    for (;;) pause();
  }
  ASSERT_GT(child, 0);
  far = base::FileDescriptor();
  base::FileDescriptor copy(test::receive_descriptor(near.get()));
  ASSERT_TRUE(copy);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(lines.alive(9));
  EXPECT_FALSE(lines.take(9));
  copy = base::FileDescriptor();
  EXPECT_FALSE(lines.alive(9));
}

TEST_F(SqliteLifelines, EndWithTheirProcess) {
  Lines lines(path_);
  for (const int signal : {SIGKILL, SIGTERM}) {
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    const base::FileDescriptor reader(ends[0]);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      Lines own(path_);
      if (!own.take(9) || write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    ASSERT_GT(child, 0);
    ::close(ends[1]);
    char byte = 0;
    ASSERT_EQ(read(reader.get(), &byte, 1), 1);
    EXPECT_TRUE(lines.alive(9));
    EXPECT_FALSE(lines.take(9));
    ASSERT_EQ(kill(child, signal), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_FALSE(lines.alive(9)) << signal;
  }
}

}  // namespace
}  // namespace holdfast::sqlite
