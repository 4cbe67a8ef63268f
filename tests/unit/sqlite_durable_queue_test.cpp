// What waits for the disk: no disk, no other thread, and a clock that moves when the test says so.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/sqlite/durable_queue.hpp"
#include "backends/sqlite/failures.hpp"
#include "spi/operation.hpp"
#include "support/polling_loop.hpp"

namespace holdfast::sqlite {
namespace {

using namespace std::chrono_literals;
using spi::Failure;
using spi::Result;

using Ends = std::vector<std::string>;

class SqliteDurableQueue : public testing::Test {
 protected:
  using Work = std::function<Result<int>(DurableSide&)>;

  SqliteDurableQueue() { loop.keeps_blocking_work = true; }

  static spi::Operation<int> running(DurableQueue& queue, base::Instant deadline, Work work) {
    auto result = co_await queue.run(deadline, std::move(work));
    co_return result;
  }

  void add(const std::string& name, base::Duration patience, Work work) {
    running(*queue, loop.now() + patience, std::move(work)).start([this, name](const Result<int>& result) {
      ends.push_back(name + ": " + (result.ok() ? std::to_string(result.value()) : text_of(result.failure())));
      if (on_end) on_end();
    });
  }
  void add(const std::string& name, int value, base::Duration patience = 1s) {
    add(name, patience, [this, name, value](DurableSide&) {
      executed.push_back(name);
      return Result(value);
    });
  }

  static std::string text_of(const Failure& failure) {
    switch (failure.code) {
      case Errc::in_doubt: return "in doubt";
      case Errc::unreachable: return "unreachable";
      default: return failure.detail;
    }
  }

  /// What the thread that blocks does.
  void execute_next() {
    auto [work, done] = std::move(loop.blocking_work.front());
    loop.blocking_work.pop_front();
    work();
    work.reset();
    loop.post(std::move(done));
  }

  Ends ended() {
    loop.run();
    return std::exchange(ends, {});
  }

  test::PollingLoop loop;
  std::optional<DurableQueue> queue{std::in_place, loop, "/nowhere", Machine{.boot_id = "test"}};
  Ends executed;
  Ends ends;
  std::function<void()> on_end;
};

TEST_F(SqliteDurableQueue, ExecutesOneJobAfterTheOther) {
  add("a", 1);
  add("b", 2);
  ASSERT_EQ(loop.blocking_work.size(), 1U);
  execute_next();
  EXPECT_TRUE(ends.empty()) << "answers come from the loop";
  EXPECT_EQ(ended(), Ends{"a: 1"});
  ASSERT_EQ(loop.blocking_work.size(), 1U);
  execute_next();
  EXPECT_EQ(ended(), Ends{"b: 2"});
  EXPECT_EQ(executed, (Ends{"a", "b"}));
}

TEST_F(SqliteDurableQueue, AnswersWithTheFailureOfAJob) {
  add("thrown", 1s, [](DurableSide&) -> Result<int> { throw Refusal(Errc::exhausted, "the disk is full"); });
  add("returned", 1s, [](DurableSide&) -> Result<int> { return Failure{Errc::invalid_argument, "too large"}; });
  execute_next();
  EXPECT_EQ(ended(), Ends{"thrown: the disk is full"});
  execute_next();
  EXPECT_EQ(ended(), Ends{"returned: too large"});
}

TEST_F(SqliteDurableQueue, LeavesAJobInDoubtThatIsUnderWayWhenItsPatienceEnds) {
  add("a", 1, 100ms);
  add("b", 2, 1s);
  loop.advance(100ms);
  EXPECT_EQ(ended(), Ends{"a: in doubt"});
  EXPECT_EQ(loop.blocking_work.size(), 1U) << "the disk is still busy with it";
  execute_next();
  EXPECT_TRUE(ended().empty()) << "it was answered";
  execute_next();
  EXPECT_EQ(ended(), Ends{"b: 2"});
}

TEST_F(SqliteDurableQueue, NeverBeginsAJobWhosePatienceHasEnded) {
  add("a", 1, 1s);
  add("b", 2, 100ms);
  loop.advance(100ms);
  EXPECT_EQ(ended(), Ends{"b: unreachable"});
  execute_next();
  EXPECT_EQ(ended(), Ends{"a: 1"});
  EXPECT_TRUE(loop.blocking_work.empty());
  EXPECT_EQ(executed, Ends{"a"});
}

TEST_F(SqliteDurableQueue, AnswersEverythingWhenItIsClosed) {
  add("a", 1);
  add("b", 2);
  queue->close({Errc::closed, "closed"});
  EXPECT_EQ(ended(), (Ends{"a: closed", "b: closed"}));
}

TEST_F(SqliteDurableQueue, MayEndWhileAJobIsUnderWay) {
  add("a", 1);
  queue->close({Errc::closed, "closed"});
  queue.reset();
  EXPECT_EQ(ended(), Ends{"a: closed"});
  execute_next();
  EXPECT_TRUE(ended().empty());
}

TEST_F(SqliteDurableQueue, MayEndInAnAnswer) {
  on_end = [this] {
    if (!queue) return;
    queue->close({Errc::closed, "closed"});
    queue.reset();
  };
  add("a", 1);
  add("b", 2);
  execute_next();
  EXPECT_EQ(ended(), (Ends{"a: 1", "b: closed"}));
  execute_next();
  EXPECT_TRUE(ended().empty());
}

TEST_F(SqliteDurableQueue, MayEndWhenPatienceEnds) {
  on_end = [this] { queue.reset(); };
  add("a", 1, 100ms);
  loop.advance(100ms);
  EXPECT_EQ(ended(), Ends{"a: in doubt"});
  execute_next();
  EXPECT_TRUE(ended().empty());
}

}  // namespace
}  // namespace holdfast::sqlite
