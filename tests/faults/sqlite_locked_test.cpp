// An SQLite store whose database is locked by a program that stands still in the middle of a transaction.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "faults/sqlite_complaint.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Another program that keeps the database's write lock until it is told to go.
class SqliteDatabaseLocked : public testing::Test {
 protected:
  void SetUp() override {
    make(store_);
    ASSERT_EQ(pipe2(go_.data(), O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(done_.data(), O_CLOEXEC), 0);
    locker_ = fork();  // before this process has any client
    ASSERT_GE(locker_, 0);
    if (locker_ == 0) keep_locked();
  }
  void TearDown() override {
    if (locker_ > 0) {
      kill(locker_, SIGKILL);
      waitpid(locker_, nullptr, 0);
    }
    for (const int fd : {go_[0], go_[1], done_[0], done_[1]}) close(fd);
  }

  /// Returns when the other program stands still in the middle of its transaction.
  void lock() {
    ASSERT_EQ(write(go_[1], "x", 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(locker_, &status, WUNTRACED), locker_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void unlock() {
    kill(locker_, SIGCONT);
    char byte = 0;
    ASSERT_EQ(read(done_[0], &byte, 1), 1);
  }

  SqliteStore store_;

 private:
  [[noreturn]] void keep_locked() {
    alarm(60);
    char byte = 0;
    if (read(go_[0], &byte, 1) != 1) _exit(1);
    try {
      SqliteDatabase database(store_.file());
      database.execute("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE");
      raise(SIGSTOP);
      database.execute("COMMIT");
      if (write(done_[1], "x", 1) != 1) _exit(1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the program that locks the database: %s\n", error.what());
      _exit(1);
    }
    while (true) pause();
  }

  std::array<int, 2> go_ = {};
  std::array<int, 2> done_ = {};
  pid_t locker_ = -1;
};

TEST_F(SqliteDatabaseLocked, WhoeverOnlyLooksIsNotKeptWaiting) {
  Client client(store_.url());
  const Hold hold = Mutex(client, "a", {.ttl = 60s}).acquire();
  lock();
  EXPECT_EQ(client.list().size(), 1U);
  Client newcomer(store_.url());  // whoever is on call
  const auto status = newcomer.show("a");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->holders.size(), 1U);
  unlock();
}

TEST_F(SqliteDatabaseLocked, AHolderHearsByTheEndOfItsLease) {
  Client client(store_.url());
  Mutex mutex(client, "a", {.ttl = 3s});
  const Hold hold = mutex.acquire();
  lock();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(test::eventually(3s + 500ms, [&] { return hold.stop_token().stop_requested(); }));
  EXPECT_FALSE(hold.valid());
  EXPECT_GT(std::chrono::steady_clock::now() - start, 1500ms) << "it was lost, but its lease still ran";
  unlock();
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(mutex.try_acquire_for(10s).has_value());
}

TEST_F(SqliteDatabaseLocked, AHolderSurvivesIfItIsUnlockedInTime) {
  Client client(store_.url());
  Mutex mutex(client, "a", {.ttl = 6s});
  const Hold hold = mutex.acquire();
  lock();
  EXPECT_TRUE(test::eventually([&] { return hold.state() == HoldState::at_risk; }));
  unlock();
  EXPECT_TRUE(test::eventually([&] { return hold.state() != HoldState::at_risk; }));
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(SqliteDatabaseLocked, CallsReturnByTheirDeadlines) {
  Client client(store_.url());
  Mutex mutex(client, "a", {.ttl = 3s});  // one request is given up after 500 ms
  ASSERT_TRUE(mutex.try_lock());
  mutex.unlock();
  ASSERT_TRUE(test::eventually([&] { return !client.show("a").has_value(); }));
  lock();
  Complaint complaint;
  EXPECT_LT(time_of([&] { complaint = complaint_of([&] { mutex.try_lock(); }); }), 1s + 500ms);
  EXPECT_THAT(complaint.code, AnyOf(Errc::unreachable, Errc::in_doubt)) << complaint.text;
  EXPECT_THAT(complaint.text, HasSubstr("locked")) << "it should say what to do";
  EXPECT_LT(time_of([&] { complaint = complaint_of([&] { mutex.try_lock_for(1s); }); }), 1s + 1s + 500ms);
  EXPECT_THAT(complaint.code, AnyOf(Errc::unreachable, Errc::in_doubt)) << complaint.text;
  unlock();
  EXPECT_TRUE(mutex.try_lock_for(10s));
}

TEST_F(SqliteDatabaseLocked, ANewClientSaysSo) {
  lock();
  Complaint complaint;
  const auto took = time_of([&] { complaint = complaint_about(store_.url()); });  // connect_timeout is 2 s
  EXPECT_EQ(complaint.code, Errc::unreachable) << complaint.text;
  EXPECT_THAT(complaint.text, HasSubstr("locked"));
  EXPECT_LT(took, 2s + 2s + 500ms);
  unlock();
  EXPECT_EQ(complaint_about(store_.url()).text, "");
}

TEST_F(SqliteDatabaseLocked, AWaitingCallOutlivesIt) {
  Client client(store_.url());
  Mutex mutex(client, "a", {.ttl = 3s});
  ASSERT_TRUE(mutex.try_lock());
  mutex.unlock();
  lock();
  ProcessPeer waiter(store_.url());  // connects meanwhile, and has 5 s for that
  waiter.send("acquire a 3000 15000");
  EXPECT_FALSE(waiter.receive(1s).has_value());
  unlock();
  EXPECT_THAT(waiter.receive(), StartsWith("granted"));
}

}  // namespace
}  // namespace holdfast::faults
