// The steps of a client and their transactions: no database, and a clock that moves when the test says so.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/sqlite/step_queue.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::sqlite {
namespace {

using namespace std::chrono_literals;
using Outcome = StepQueue::Executor::Outcome;
using spi::Failure;

/// Transactions end as the test says, the last outcome again and again.
class ScriptedExecutor final : public StepQueue::Executor {
 public:
  Attempt attempt(std::span<QueuedStep* const> steps) override {
    attempted.push_back(steps.size());
    const Outcome outcome = outcomes.front();
    if (outcomes.size() > 1) outcomes.pop_front();
    if (outcome == Outcome::failed) return {.outcome = outcome, .failure = Failure{Errc::store_failed, "damaged"}};
    if (outcome == Outcome::paused) return {.outcome = outcome};
    for (QueuedStep* each : steps) each->execute();
    return {.outcome = outcome};
  }
  Failure why_late() const override { return {Errc::unreachable, "late"}; }

  std::deque<Outcome> outcomes = {Outcome::committed};
  std::vector<std::size_t> attempted = {};  ///< the sizes of all transactions
};

class RecordedStep final : public QueuedStep {
 public:
  RecordedStep(std::string name, Access access, base::Instant deadline, std::vector<std::string>& ends)
      : QueuedStep(access, deadline), name_(std::move(name)), ends_(ends) {}
  void execute() override { ++executed; }
  void finish(std::optional<Failure> failure) override {
    ends_.push_back(name_ + (failure ? ": " + failure->detail : ""));
  }

  int executed = 0;  ///< so often

 private:
  const std::string name_;
  std::vector<std::string>& ends_;
};

class SqliteStepQueue : public testing::Test {
 protected:
  RecordedStep& add(const std::string& name, Access access = Access::write, base::Duration patience = 1s) {
    steps_.push_back(std::make_unique<RecordedStep>(name, access, loop.now() + patience, ends));
    queue.add(*steps_.back());
    return *steps_.back();
  }
  std::vector<std::string> ended() {
    loop.run();
    return std::exchange(ends, {});
  }

  using Ends = std::vector<std::string>;

  test::ManualLoop loop;
  ScriptedExecutor executor;
  StepQueue queue{loop, executor};
  Ends ends;

 private:
  std::vector<std::unique_ptr<RecordedStep>> steps_;
};

TEST_F(SqliteStepQueue, ExecutesAStepAtOnceAndFinishesItFromTheLoop) {
  const RecordedStep& step = add("a");
  EXPECT_EQ(step.executed, 1);
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(ended(), Ends{"a"});
}

TEST_F(SqliteStepQueue, ExecutesWhatWaitedTogetherInOneTransaction) {
  executor.outcomes = {Outcome::paused, Outcome::committed};
  for (const char* name : {"a", "b", "c"}) add(name);
  queue.resume();
  EXPECT_EQ(executor.attempted, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(ended(), (Ends{"a", "b", "c"}));
}

TEST_F(SqliteStepQueue, KeepsReadersAndWritersApartButInOrder) {
  executor.outcomes = {Outcome::paused, Outcome::committed};
  add("a", Access::read);
  add("b", Access::write);
  add("c", Access::write);
  add("d", Access::read);
  queue.resume();
  EXPECT_EQ(executor.attempted, (std::vector<std::size_t>{1, 1, 2, 1}));
  EXPECT_EQ(ended(), (Ends{"a", "b", "c", "d"}));
}

TEST_F(SqliteStepQueue, LetsOthersWriteBetweenLargeTransactions) {
  executor.outcomes = {Outcome::paused, Outcome::committed};
  for (std::size_t i = 0; i <= StepQueue::batch; ++i) add(std::to_string(i));
  queue.resume();
  EXPECT_EQ(executor.attempted, (std::vector<std::size_t>{1, StepQueue::batch, 1}));
  EXPECT_EQ(ended().size(), StepQueue::batch + 1);
}

TEST_F(SqliteStepQueue, ExecutesAStepAgainUntilItsTransactionIsCommitted) {
  executor.outcomes = {Outcome::busy, Outcome::busy, Outcome::committed};
  const RecordedStep& step = add("a");
  EXPECT_TRUE(ended().empty());
  loop.advance(1ms);
  EXPECT_EQ(step.executed, 3);
  EXPECT_EQ(ended(), Ends{"a"});
}

TEST_F(SqliteStepQueue, AttemptsLessAndLessOftenWhileAnotherProcessWrites) {
  executor.outcomes = {Outcome::busy};
  add("a", Access::write, 10s);
  loop.advance(1ms);
  const std::size_t in_the_first = executor.attempted.size();
  EXPECT_GT(in_the_first, 2U);
  EXPECT_LT(in_the_first, 7U);
  loop.advance(99ms);
  const std::size_t before = executor.attempted.size();
  loop.advance(1s);
  const std::size_t in_a_second = executor.attempted.size() - before;
  EXPECT_GT(in_a_second, 15U) << "the pauses are bounded: 51 ms at most";
  EXPECT_LT(in_a_second, 41U) << "and at least 25 ms by now";
}

TEST_F(SqliteStepQueue, DoesNotAttemptForLaterStepsWhatTheFirstWaitsFor) {
  executor.outcomes = {Outcome::busy};
  add("a");
  add("b");
  EXPECT_EQ(executor.attempted.size(), 1U);
}

TEST_F(SqliteStepQueue, GivesUpAStepWhosePatienceEnds) {
  executor.outcomes = {Outcome::busy};
  add("patient", Access::write, 1s);
  add("hasty", Access::write, 100ms);
  loop.advance(99ms);
  EXPECT_TRUE(ended().empty());
  loop.advance(1ms);
  EXPECT_EQ(ended(), Ends{"hasty: late"});
  executor.outcomes = {Outcome::committed};
  loop.advance(100ms);
  EXPECT_EQ(ended(), Ends{"patient"});
}

TEST_F(SqliteStepQueue, GivesUpOneAfterTheOtherWhileItIsPaused) {
  executor.outcomes = {Outcome::paused};
  add("first", Access::write, 100ms);
  add("second", Access::write, 200ms);
  loop.advance(100ms);
  EXPECT_EQ(ended(), Ends{"first: late"});
  loop.advance(100ms);
  EXPECT_EQ(ended(), Ends{"second: late"});
}

TEST_F(SqliteStepQueue, AttemptsNothingWhileItIsPaused) {
  executor.outcomes = {Outcome::paused, Outcome::committed};
  add("a");
  add("b");
  loop.advance(500ms);
  EXPECT_EQ(executor.attempted.size(), 1U);
  queue.resume();
  EXPECT_EQ(ended(), (Ends{"a", "b"}));
}

TEST_F(SqliteStepQueue, FailsAllThatWaitsWithAFailedTransaction) {
  executor.outcomes = {Outcome::busy, Outcome::failed, Outcome::committed};
  add("a");
  add("b", Access::read);
  loop.advance(1ms);
  EXPECT_EQ(ended(), (Ends{"a: damaged", "b: damaged"}));
  add("c");
  EXPECT_EQ(ended(), Ends{"c"}) << "what comes later is tried anew";
}

TEST_F(SqliteStepQueue, GoesOnAfterAPauseThatEndsWithAFailure) {
  executor.outcomes = {Outcome::paused, Outcome::committed};
  add("a");
  queue.fail_all({Errc::bad_url, "no such directory"});
  EXPECT_EQ(ended(), Ends{"a: no such directory"});
  add("b");
  EXPECT_EQ(ended(), Ends{"b"});
}

TEST_F(SqliteStepQueue, FailsWhatWaitsAndWhatComesOnceItIsClosed) {
  executor.outcomes = {Outcome::busy};
  add("a");
  queue.close({Errc::closed, "closed"});
  add("b");
  EXPECT_EQ(ended(), (Ends{"a: closed", "b: closed"}));
  loop.advance(10s);
  EXPECT_EQ(executor.attempted.size(), 1U);
}

}  // namespace
}  // namespace holdfast::sqlite
