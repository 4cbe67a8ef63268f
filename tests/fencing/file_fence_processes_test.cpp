// Several processes and one FileFence: counting, forking, being killed at any moment.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "holdfast/file_fence.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::fencing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Memory that forked children share, and that outlives them.
template <class Value>
class Shared {
 public:
  Shared()
      : value_(new(mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Value()) {}
  ~Shared() { munmap(value_, sizeof(Value)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  Value* operator->() const { return value_; }

 private:
  Value* value_;
};

template <class Body>
pid_t forked(const Body& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(120);
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in the forked child: %s\n", error.what());
    _exit(1);
  }
  _exit(0);
}

bool succeeded(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class FileFenceProcesses : public testing::Test {
 protected:
  const test::TemporaryDirectory directory_;
  const fs::path path_ = directory_.path() / "fence";
};

TEST_F(FileFenceProcesses, CountUnderOneToken) {
  const fs::path file = directory_.path() / "counter";
  std::ofstream(file) << 0;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(forked([&] {
      FileFence fence(path_, 2min);
      for (int round = 0; round < 100; ++round) {
        static_cast<void>(fence.write(Token(7), [&] {
          int count = 0;
          std::ifstream(file) >> count;
          std::ofstream(file) << count + 1;
        }));
      }
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(succeeded(child));
  int count = 0;
  std::ifstream(file) >> count;
  EXPECT_EQ(count, 400);
}

TEST_F(FileFenceProcesses, NeverWriteAnOlderTokenAfterANewerOne) {
  struct State {
    std::atomic<std::uint64_t> next = 1;
    std::uint64_t written = 0;  // guarded by the fence
    std::atomic<int> backward = 0;
    std::atomic<int> admitted = 0;
    std::atomic<int> refused = 0;
  };
  const Shared<State> state;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(forked([&] {
      FileFence fence(path_, 2min);
      for (int round = 0; round < 200; ++round) {
        const std::uint64_t token = state->next++;
        const bool admitted = fence.write(Token(token), [&] {
          if (token < state->written) ++state->backward;
          state->written = token;
        });
        ++(admitted ? state->admitted : state->refused);
      }
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(succeeded(child));
  EXPECT_EQ(state->backward, 0);
  EXPECT_EQ(state->admitted + state->refused, 800);
  EXPECT_EQ(state->written, 800U);
  EXPECT_EQ(FileFence(path_).largest(), Token(800));
}

TEST_F(FileFenceProcesses, KilledAtAnyMomentNeverMakeItGoBack) {
  struct State {
    std::atomic<std::uint64_t> next = 1;
    std::atomic<std::uint64_t> written = 0;  // the largest whose write ran
    std::atomic<int> writing = 0;            // how many have begun a call, and not ended it
  };
  const Shared<State> state;
  std::mt19937 random(20'240'501);
  std::uint64_t largest_before = 0;
  int killed_inside = 0;
  fs::path path = path_;
  for (int round = 0; round < 400; ++round) {
    if (round % 4 == 0) {  // a new file: its making is interrupted, too
      path = path_.string() + std::to_string(round);
      largest_before = 0;
      state->written = 0;
    }
    state->writing = 0;
    std::vector<pid_t> children;
    for (int i = 0; i < 2; ++i) {
      children.push_back(forked([&] {
        FileFence fence(path);
        while (true) {
          ++state->writing;
          const std::uint64_t token = state->next++;
          static_cast<void>(fence.write(Token(token), [&] { state->written = token; }));
          --state->writing;
        }
      }));
    }
    const auto pause = std::chrono::microseconds(std::uniform_int_distribution(0, 4000)(random));
    const auto until = std::chrono::steady_clock::now() + pause;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    killed_inside += state->writing;

    FileFence fence(path);
    const std::uint64_t largest = fence.largest().value();  // throws if it is torn
    ASSERT_GE(largest, state->written) << "round " << round;
    ASSERT_GE(largest, largest_before) << "round " << round;
    ASSERT_LT(largest, state->next) << "round " << round;
    ASSERT_TRUE(largest == 0 || !fence.admit(Token(largest - 1)));
    ASSERT_TRUE(fence.admit(Token(largest)));
    largest_before = largest;
  }
  EXPECT_GT(killed_inside, 100);
  RecordProperty("killed_inside", killed_inside);
}

TEST_F(FileFenceProcesses, AStoppedWriterKeepsOthersOutUntilItEnds) {
  const Shared<std::atomic<bool>> begun;
  const pid_t writer = forked([&] {
    static_cast<void>(FileFence(path_).write(Token(1), [&] {
      begun->store(true);
      raise(SIGSTOP);
    }));
  });
  ASSERT_TRUE(test::eventually([&] { return begun->load(); }));
  FileFence fence(path_, 30ms);
  EXPECT_EQ(test::errc_of([&] { static_cast<void>(fence.admit(Token(2))); }), Errc::unreachable);
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  EXPECT_TRUE(fence.admit(Token(2)));
}

TEST_F(FileFenceProcesses, AForkedChildGoesOnUsingTheFence) {
  FileFence fence(path_);
  ASSERT_TRUE(fence.admit(Token(1)));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](test::ChildReport& report) {
    report.expect(!fence.admit(Token(0)), "refuses");
    report.expect(fence.admit(Token(2)), "admits");
  }));
  EXPECT_FALSE(fence.admit(Token(1)));
  EXPECT_EQ(fence.largest(), Token(2));
}

TEST_F(FileFenceProcesses, AChildForkedDuringAWriteNeitherEndsNorKeepsIt) {
  FileFence fence(path_);
  const pid_t parent = getpid();
  pid_t child = 0;
  int pipe_ends[2] = {};
  ASSERT_EQ(pipe(pipe_ends), 0);
  const bool written = fence.write(Token(1), [&] {
    child = fork();
    if (child == 0) return;  // leaves write(), in the child
    close(pipe_ends[1]);
    char ready = 0;
    EXPECT_EQ(read(pipe_ends[0], &ready, 1), 1);
    FileFence other(path_, 30ms);
    EXPECT_EQ(test::errc_of([&] { static_cast<void>(other.admit(Token(2))); }), Errc::unreachable);
  });
  if (getpid() != parent) {
    alarm(20);
    static_cast<void>(!::write(pipe_ends[1], "r", 1));
    pause();
    _exit(0);
  }
  EXPECT_TRUE(written);
  EXPECT_TRUE(FileFence(path_, 0ms).admit(Token(2)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipe_ends[0]);
}

TEST_F(FileFenceProcesses, AChildThatStillHasTheDescriptorDoesNotKeepTheLock) {
  FileFence fence(path_);
  pid_t child = 0;
  EXPECT_TRUE(fence.write(Token(1), [&] {
    child = fork();
    if (child != 0) return;
    alarm(20);
    pause();  // never leaves write()
    _exit(0);
  }));
  EXPECT_TRUE(FileFence(path_, 0ms).admit(Token(2)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace holdfast::fencing
