// fork() in the middle of everything: the parent goes on, and the child begins anew on the same file.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "backends/sqlite/sql.hpp"
#include "base/file_descriptor.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"
#include "support/temporary_directory.hpp"

// Read by ThreadSanitizer where there is one: forked children open clients of their own, which start threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace holdfast::sqlite {
namespace {

using namespace std::chrono_literals;
using test::ChildReport;

constexpr unsigned bound = 60;  // seconds, of everything

/// Locks and unlocks on a thread of its own, until it is destroyed.
class Busy {
 public:
  Busy(Client& client, ChildReport& report) : client_(client), report_(report) {}
  ~Busy() { stop(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// Whether it does not stand still.
  bool goes_on() const {
    const int before = rounds_;
    return test::eventually([&] { return rounds_ > before + 2; });
  }

 private:
  void run() try {
    Mutex mutex(client_, "busy");
    while (!stop_) {
      const std::scoped_lock lock(mutex);
      ++rounds_;
    }
  } catch (const std::exception& error) {
    report_.expect(false, std::string("in the busy thread: ") + error.what());
  }

  Client& client_;
  ChildReport& report_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> rounds_ = 0;
  std::thread thread_{[this] { run(); }};
};

void lock_and_unlock(const std::string& url, int rounds) {
  Client client(url);
  Mutex mutex(client, "busy");
  for (int round = 0; round < rounds; ++round) {
    const std::scoped_lock lock(mutex);
  }
}

/// Runs `body` in a forked child, which then ends at once; the child's pid.
template <class Body>
pid_t in_a_child(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(bound);
  ChildReport report;
  try {
    body(report);
  } catch (const std::exception& error) {
    report.expect(false, std::string("unexpected exception: ") + error.what());
  }
  _exit(report.failed() ? 1 : 0);
}

bool ended_well(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class SqliteForkGate : public testing::Test {
 protected:
  std::string path() const { return (directory_.path() / "locks.db").string(); }
  std::string url() const { return "sqlite:" + path(); }

  void expect_sound_database() const {
    Connection connection(path(), Connection::Durability::normal, 1s);
    Statement statement(connection, "PRAGMA integrity_check");
    auto rows = statement.rows();
    ASSERT_TRUE(rows.next());
    EXPECT_EQ(rows.text(0), "ok");
  }

 private:
  const test::TemporaryDirectory directory_;
};

TEST_F(SqliteForkGate, LetsAProcessForkWhileAnotherThreadLocks) {
  // In a process of its own: it starts threads, and ends with them.
  EXPECT_TRUE(ended_well(in_a_child([&](ChildReport& report) {
    Client client(url());
    Busy busy(client, report);
    for (int fork = 0; fork < 12; ++fork) {
      report.expect(busy.goes_on(), "the parent stands still");
      const pid_t child = in_a_child([&](ChildReport&) { lock_and_unlock(url(), 5); });
      report.expect(busy.goes_on(), "the parent stands still after a fork");
      report.expect(ended_well(child), "the child did not end well");
    }
    busy.stop();
    report.expect(client.list().empty(), "something is left in the store");
  })));
  expect_sound_database();
}

TEST_F(SqliteForkGate, LetsSeveralChildrenLockAtOnce) {
  EXPECT_TRUE(ended_well(in_a_child([&](ChildReport& report) {
    Client client(url());
    Busy busy(client, report);
    report.expect(busy.goes_on(), "the parent stands still");
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) children.push_back(in_a_child([&](ChildReport&) { lock_and_unlock(url(), 20); }));
    for (const pid_t child : children) report.expect(ended_well(child), "a child did not end well");
    report.expect(busy.goes_on(), "the parent stands still after the forks");
  })));
  expect_sound_database();
}

TEST_F(SqliteForkGate, LetsTheChildGoOnWhenTheParentHasGone) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const base::FileDescriptor reader(ends[0]);
  const pid_t parent = in_a_child([&](ChildReport& report) {
    Client client(url());
    Busy busy(client, report);
    Mutex kept(client, "kept");
    kept.lock();
    report.expect(busy.goes_on(), "the parent stands still");
    const pid_t me = getpid();
    int begun[2] = {};
    report.expect(pipe(begun) == 0, "pipe()");
    in_a_child([&](ChildReport& child_report) {
      Client own(url());
      Mutex mutex(own, "busy");
      mutex.lock();
      mutex.unlock();
      child_report.expect(!Mutex(own, "kept").try_lock(), "the parent has that one");
      child_report.expect(write(begun[1], "x", 1) == 1, "write()");
      child_report.expect(test::eventually([&] { return getppid() != me; }), "the parent does not end");
      for (int round = 0; round < 50; ++round) {
        const std::scoped_lock lock(mutex);
      }
      child_report.expect(Mutex(own, "kept").try_lock_for(20s), "what a dead process held is free");
      own.close();
      lock_and_unlock(url(), 5);
      child_report.expect(write(ends[1], child_report.failed() ? "-" : "+", 1) == 1, "write()");
    });
    char byte = 0;
    report.expect(read(begun[0], &byte, 1) == 1, "the child has begun");
    _exit(report.failed() ? 1 : 0);  // at once, with everything open and a lock in its hands
  });
  ::close(ends[1]);
  EXPECT_TRUE(ended_well(parent));
  pollfd wanted = {.fd = reader.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&wanted, 1, static_cast<int>(bound) * 1000), 1) << "the child does not end";
  char verdict = 0;
  ASSERT_EQ(read(reader.get(), &verdict, 1), 1) << "the child ended without a word";
  EXPECT_EQ(verdict, '+');
  expect_sound_database();
}

}  // namespace
}  // namespace holdfast::sqlite
