#include "core/operations/operation.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/operations/store_requests.hpp"
#include "support/scripted_engine.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::Caller;
using core::Operation;
using spi::Failure;

/// Lets a test answer what an operation asks.
struct Question {
  std::vector<spi::Done<int>> open;
  auto ask() {
    return core::answer_of<int>([this](spi::Done<int> done) { open.push_back(std::move(done)); });
  }
};

Operation<int> sum_of_two(Question& question) {
  spi::Result<int> first = co_await question.ask();
  if (!first.ok()) co_return first;
  spi::Result<int> second = co_await question.ask();
  if (!second.ok()) co_return second;
  co_return first.value() + second.value();
}

Operation<int> twice(Question& question) {
  spi::Result<int> sum = co_await sum_of_two(question);
  if (!sum.ok()) co_return sum;
  co_return 2 * sum.value();
}

TEST(Operation, GoesOnWithEachAnswer) {
  Question question;
  std::optional<spi::Result<int>> result;
  twice(question).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  ASSERT_EQ(question.open.size(), 1U);
  question.open[0](3);
  EXPECT_FALSE(result.has_value());
  question.open[1](4);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->value(), 14);
}

TEST(Operation, EndsWithTheFirstFailure) {
  Question question;
  std::optional<spi::Result<int>> result;
  twice(question).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  question.open[0](Failure{Errc::lost});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->failure().code, Errc::lost);
}

TEST(Operation, ThatIsNeverStartedLeavesNothing) {
  Question question;
  {
    const auto unused = twice(question);
  }
  EXPECT_TRUE(question.open.empty());
}

Operation<int> arrive(Caller& caller, core::Cell& cell, LockOptions options, Caller::TryInAnOutage in_an_outage) {
  const spi::Mode one{ClaimMode::permits, 1, 2};
  core::Request::Answer arrived = co_await caller.acquire(cell, options, one, spi::WhenBusy::refuse, in_an_outage);
  if (!arrived.ok()) co_return arrived.failure();
  co_return 1;
}

class ATryInAnOutage : public testing::Test {
 protected:
  ATryInAnOutage() {
    const auto first = client_.call("warm");
    client_.answer(client_.store->next_acquire(), client_.granted(1));
    first->release();
  }

  void begin(Caller& caller, Caller::TryInAnOutage in_an_outage) {
    arrive(caller, client_.engine.cell("phase", LockKind::semaphore), {.ttl = 3s}, in_an_outage)
        .start([this](spi::Result<int> its_result) { result_ = std::move(its_result); });
    client_.loop.run();
  }

  ScriptedEngine client_;
  std::optional<spi::Result<int>> result_;
};

TEST_F(ATryInAnOutage, Fails) {
  Caller caller(client_.engine, base::Instant::max());
  begin(caller, Caller::TryInAnOutage::fails);
  client_.answer(client_.store->next_acquire(), Failure{Errc::in_doubt});
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->failure().code, Errc::in_doubt);
}

TEST_F(ATryInAnOutage, GoesOnUnderTheSameIdIfItIsToldTo) {
  Caller caller(client_.engine, base::Instant::max());
  begin(caller, Caller::TryInAnOutage::goes_on);
  ScriptedBackend::Acquire first = client_.store->next_acquire();
  const spi::ClaimId id = first.id;
  client_.answer(std::move(first), Failure{Errc::in_doubt});
  EXPECT_FALSE(result_.has_value());
  client_.loop.advance(2s);
  ScriptedBackend::Acquire second = client_.store->next_acquire();
  EXPECT_EQ(second.id, id);
  EXPECT_EQ(second.when_busy, spi::WhenBusy::refuse);
  client_.answer(std::move(second), client_.granted(7));
  ASSERT_TRUE(result_.has_value());
  EXPECT_TRUE(result_->ok());
}

TEST_F(ATryInAnOutage, FailsWhenItsCallerIsLate) {
  Caller caller(client_.engine, client_.loop.now() + 1s);
  begin(caller, Caller::TryInAnOutage::goes_on);
  client_.answer(client_.store->next_acquire(), Failure{Errc::unreachable});
  EXPECT_FALSE(result_.has_value());
  client_.loop.advance(2s);
  client_.answer(client_.store->next_acquire(), Failure{Errc::unreachable});
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->failure().code, Errc::unreachable);
}

TEST_F(ATryInAnOutage, IsInDoubtIfOneOfItsFailuresWas) {
  Caller caller(client_.engine, client_.loop.now() + 1s);
  begin(caller, Caller::TryInAnOutage::goes_on);
  client_.answer(client_.store->next_acquire(), Failure{Errc::in_doubt});
  client_.loop.advance(2s);
  client_.answer(client_.store->next_acquire(), Failure{Errc::unreachable});
  ASSERT_TRUE(result_.has_value());
  EXPECT_EQ(result_->failure().code, Errc::in_doubt);
}

Operation<int> nap(Caller& caller, base::Duration length) {
  co_await caller.nap_for(length);
  if (caller.interrupted()) co_return *caller.interrupted();
  co_return 1;
}

TEST(Caller, NapsUntilItIsTime) {
  ScriptedEngine client;
  Caller caller(client.engine, base::Instant::max());
  std::optional<spi::Result<int>> result;
  nap(caller, 1s).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  client.loop.advance(999ms);
  EXPECT_FALSE(result.has_value());
  client.loop.advance(1ms);
  client.loop.run();
  EXPECT_TRUE(result.has_value());
}

TEST(Caller, IsWokenUp) {
  ScriptedEngine client;
  Caller caller(client.engine, base::Instant::max());
  std::optional<spi::Result<int>> result;
  const auto wake = caller.waker();
  nap(caller, 1h).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  wake();
  EXPECT_FALSE(result.has_value()) << "not inside of what woke it";
  client.loop.run();
  EXPECT_TRUE(result.has_value());
}

TEST(Caller, IsWokenUpBeforeItSleeps) {
  ScriptedEngine client;
  Caller caller(client.engine, base::Instant::max());
  caller.waker()();
  std::optional<spi::Result<int>> result;
  nap(caller, 1h).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  EXPECT_TRUE(result.has_value());
}

TEST(Caller, IsInterrupted) {
  ScriptedEngine client;
  Caller caller(client.engine, base::Instant::max());
  std::optional<spi::Result<int>> result;
  nap(caller, 1h).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  caller.interrupt(Failure{Errc::cancelled});
  client.loop.run();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->failure().code, Errc::cancelled);
}

TEST(Caller, ThatHasGoneIsNotWoken) {
  ScriptedEngine client;
  std::optional<Caller> caller(std::in_place, client.engine, base::Instant::max());
  const auto wake = caller->waker();
  caller.reset();
  wake();
}

Operation<std::shared_ptr<core::HoldRecord>> acquire(Caller& caller, core::Cell& cell, const LockOptions& options) {
  core::Request::Answer answer = co_await caller.acquire(cell, options);
  co_return answer;
}

TEST(Caller, AcquiresAndIsInterruptedInLine) {
  ScriptedEngine client;
  const LockOptions options{.ttl = 3s};
  Caller first(client.engine, base::Instant::max());
  Caller second(client.engine, base::Instant::max());
  std::optional<core::Request::Answer> held;
  std::optional<core::Request::Answer> refused;
  acquire(first, client.engine.cell("a"), options).start([&](core::Request::Answer answer) {
    held = std::move(answer);
  });
  acquire(second, client.engine.cell("a"), options).start([&](core::Request::Answer answer) {
    refused = std::move(answer);
  });
  client.answer(client.store->next_acquire(), client.granted(7));
  ASSERT_TRUE(held.has_value());
  EXPECT_TRUE(held->ok());
  second.interrupt(Failure{Errc::cancelled});
  client.loop.run();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->failure().code, Errc::cancelled);
}

TEST(Engine, InterruptsItsCallersWhenItIsClosed) {
  ScriptedEngine client;
  Caller caller(client.engine, base::Instant::max());
  std::optional<spi::Result<int>> result;
  nap(caller, 1h).start([&](spi::Result<int> its_result) { result = std::move(its_result); });
  client.engine.close(1s, [] {});
  client.loop.run();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->failure().code, Errc::closed);
}

}  // namespace
}  // namespace holdfast::test
