#include <gtest/gtest.h>

#include "core/engine/cell.hpp"
#include "support/scripted_engine.hpp"

// Readers, permits, downgrading and release requests: how a cell serves many holders with few claims.

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using spi::WhenBusy;

constexpr spi::Mode reader{ClaimMode::shared};
constexpr spi::Mode writer{ClaimMode::exclusive};
constexpr spi::Mode permits(std::uint32_t wanted) { return {ClaimMode::permits, wanted, 10}; }

TEST(CellReaders, ThatWaitTogetherEnterTogether) {
  ScriptedEngine client({.local_turns = 2});
  std::vector<std::unique_ptr<Call>> readers;
  for (int i = 0; i < 10; ++i) readers.push_back(client.call("a", reader));
  ASSERT_EQ(client.store->acquires.size(), 1U);
  client.answer(client.store->next_acquire(), client.granted(7));
  for (const auto& one : readers) {
    ASSERT_TRUE(one->held()) << "the bound is for those who come later";
    EXPECT_EQ(one->hold().token, Token(7 << 8));
    EXPECT_EQ(one->hold().mode(), ClaimMode::shared);
  }
  EXPECT_TRUE(client.store->acquires.empty());
}

TEST(CellReaders, JoinAClaimThatIsHeld) {
  ScriptedEngine client;
  const auto first = client.call("a", reader);
  client.answer(client.store->next_acquire(), client.granted(7));
  const auto second = client.call("a", reader);
  EXPECT_TRUE(second->held());
  first->release();
  EXPECT_TRUE(client.store->releases.empty()) << "somebody still reads";
  second->release();
  EXPECT_EQ(client.store->releases.size(), 1U);
}

TEST(CellReaders, AskForAnotherClaimWhenTheBoundIsReached) {
  ScriptedEngine client;
  const auto first = client.call("a", reader);
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(50ms);
  const auto second = client.call("a", reader);
  EXPECT_FALSE(second->held());
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_EQ(client.store->acquires.front().replaces, std::nullopt) << "the first still reads";
  const auto newer = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.granted(9));
  EXPECT_TRUE(second->held());

  // The newer claim serves both now.
  ASSERT_EQ(client.store->releases.size(), 1U);
  EXPECT_NE(client.store->releases.front().id, newer);
  client.answer(client.store->next_release(), true);
  EXPECT_EQ(first->hold().state_at(client.loop.now()), HoldState::held);
  EXPECT_EQ(first->hold().token, Token(7 << 8)) << "a token never changes";
  EXPECT_EQ(first->hold().valid_until(), second->hold().valid_until());
  first->release();
  second->release();
  ASSERT_EQ(client.store->releases.size(), 1U);
  EXPECT_EQ(client.store->releases.front().id, newer);
}

TEST(CellReaders, BehindAWriterOfAnotherClientKeepTheOlderOnesClaim) {
  ScriptedEngine client;
  const auto first = client.call("a", reader);
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(50ms);
  const auto second = client.call("a", reader);
  const auto third = client.call("a", reader, WhenBusy::refuse);
  client.answer(client.store->next_acquire(), client.waiting());
  EXPECT_FALSE(second->held());
  EXPECT_EQ(third->failed(), Errc::busy) << "it would have to wait";
  EXPECT_EQ(client.call("a", reader, WhenBusy::refuse)->failed(), Errc::busy);
  EXPECT_TRUE(client.store->releases.empty());
  EXPECT_EQ(first->hold().state_at(client.loop.now()), HoldState::held);
}

TEST(CellReaders, DoNotOvertakeAWaitingWriter) {
  ScriptedEngine client;
  const auto first = client.call("a", reader);
  client.answer(client.store->next_acquire(), client.granted(7));
  const auto second = client.call("a", writer);
  EXPECT_EQ(client.store->acquires.size(), 1U) << "it stands in the store's line at once";
  client.answer(client.store->next_acquire(), client.waiting());
  const auto third = client.call("a", reader);
  EXPECT_FALSE(third->held());
  EXPECT_EQ(client.call("a", reader, WhenBusy::refuse)->failed(), Errc::busy);
  first->release();
  EXPECT_FALSE(second->held()) << "that is for the store to say";
}

TEST(CellReaders, WithOtherLeasesHaveClaimsOfTheirOwn) {
  ScriptedEngine client;
  const auto first = client.call("a", reader);
  client.answer(client.store->next_acquire(), client.granted(7));
  Call second(client.engine.cell("a"), {.ttl = 9s}, WhenBusy::wait, base::Instant::max(), reader);
  EXPECT_FALSE(second.held());
  client.answer(client.store->next_acquire(), client.granted(8));
  EXPECT_TRUE(second.held());
  EXPECT_TRUE(client.store->releases.empty());
  first->release();
  second.release();
}

TEST(CellReaders, AreAllLostWithTheirClaim) {
  ScriptedEngine client;
  const auto first = client.call("a", reader);
  const auto second = client.call("a", reader);
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{ScriptedEngine::absent()});
  EXPECT_EQ(first->hold().state_at(client.loop.now()), HoldState::lost);
  EXPECT_EQ(second->hold().state_at(client.loop.now()), HoldState::lost);
}

TEST(CellDowngrade, IsSharedAtOnceAndToldUntilItIsConfirmed) {
  ScriptedEngine client;
  const auto first = client.call("a", writer);
  client.answer(client.store->next_acquire(), client.granted(7));
  std::optional<spi::Result<>> told;
  first->cell.downgrade(first->hold(), [&](spi::Result<> result) { told = std::move(result); });
  EXPECT_EQ(first->hold().mode(), ClaimMode::shared);
  EXPECT_TRUE(client.call("a", reader)->held()) << "readers of this client need not wait for the store";

  client.answer(client.store->next_downgrade(), spi::Failure{Errc::in_doubt});
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->failure().code, Errc::in_doubt);
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{client.granted(7)});
  ASSERT_EQ(client.store->downgrades.size(), 1U) << "told again";
  client.answer(client.store->next_downgrade(), client.granted(7));
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{client.granted(7)});
  EXPECT_TRUE(client.store->downgrades.empty());
}

TEST(CellDowngrade, LosesWhatTheStoreDoesNotHave) {
  ScriptedEngine client;
  const auto first = client.call("a", writer);
  client.answer(client.store->next_acquire(), client.granted(7));
  std::optional<spi::Result<>> told;
  first->cell.downgrade(first->hold(), [&](spi::Result<> result) { told = std::move(result); });
  client.answer(client.store->next_downgrade(), ScriptedEngine::absent());
  EXPECT_EQ(told->failure().code, Errc::lost);
  EXPECT_EQ(first->hold().state_at(client.loop.now()), HoldState::lost);
}

TEST(CellPermits, HaveAClaimForEachHoldAndOneThatWaits) {
  ScriptedEngine client;
  const auto first = client.call("a", permits(2));
  const auto second = client.call("a", permits(2));
  const auto third = client.call("a", permits(2));
  ASSERT_EQ(client.store->acquires.size(), 1U);
  client.answer(client.store->next_acquire(), client.granted(7));
  EXPECT_TRUE(first->held());
  EXPECT_FALSE(second->held());
  ASSERT_EQ(client.store->acquires.size(), 1U);
  client.answer(client.store->next_acquire(), client.waiting());
  EXPECT_TRUE(client.store->acquires.empty()) << "the third waits behind the second, here";

  first->release();
  EXPECT_EQ(client.store->releases.size(), 1U);
  EXPECT_FALSE(second->held()) << "permits are not handed over here";
}

TEST(CellPermits, OfAnotherTotalAreRefusedAlone) {
  ScriptedEngine client;
  const auto wrong = client.call("a", spi::Mode{ClaimMode::permits, 1, 9});
  const auto right = client.call("a", permits(1));
  client.answer(client.store->next_acquire(), spi::Failure{Errc::invalid_argument, "another total"});
  EXPECT_EQ(wrong->failed(), Errc::invalid_argument);
  client.answer(client.store->next_acquire(), client.granted(7));
  EXPECT_TRUE(right->held());
}

TEST(CellPermits, AndALockOfTheSameNameAreTwoThings) {
  ScriptedEngine client;
  const auto lock = client.call("a", writer);
  const auto permit = client.call("a", permits(1));
  client.answer(client.store->next_acquire(), client.granted(7));
  client.answer(client.store->next_acquire(), client.granted(8));
  EXPECT_TRUE(lock->held());
  EXPECT_TRUE(permit->held());
  EXPECT_EQ(client.engine.cells(), 2U);
}

TEST(CellReleaseRequest, IsToldOnceAndEndsLocalHandOver) {
  ScriptedEngine client;
  const auto first = client.call("a", writer);
  const auto second = client.call("a", writer);
  client.answer(client.store->next_acquire(), client.granted(7));
  std::vector<std::string> heard;
  class Now : public core::UserSide {
    void run(base::Task task) override { task(); }
    void log(LogLevel, std::string) override {}
    void report(Errc, std::string) override {}
  } user;
  first->hold().on_release_request([&](const ReleaseRequest& request) { heard.push_back(request.reason); }, user);

  auto asked = client.granted(7);
  asked.asked_to_release = ReleaseRequest{"deploying", 5s};
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{asked});
  client.loop.advance(1s);
  asked = client.granted(7);
  asked.asked_to_release = ReleaseRequest{"deploying", 4s};
  client.answer(client.store->next_renew(), std::vector{asked});
  EXPECT_EQ(heard, std::vector<std::string>{"deploying"}) << "the second answer repeats it";

  first->release();
  EXPECT_FALSE(second->held()) << "whoever asked comes first";
  EXPECT_EQ(client.store->acquires.size(), 1U);
}

TEST(CellLockDelay, KeepsTheClientFromReleasingWhatWasLost) {
  ScriptedEngine client;
  const auto first = client.call("a", {.ttl = 3s, .lock_delay = 10s});
  EXPECT_EQ(client.store->acquires.front().lock_delay, 10s);
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(3s);
  EXPECT_EQ(first->hold().state_at(client.loop.now()), HoldState::lost);
  EXPECT_TRUE(client.store->releases.empty()) << "that would open it";
}

TEST(CellLockDelay, DoesNotConcernARelease) {
  ScriptedEngine client;
  const auto first = client.call("a", {.ttl = 3s, .lock_delay = 10s});
  client.answer(client.store->next_acquire(), client.granted(7));
  first->release();
  EXPECT_EQ(client.store->releases.size(), 1U);
}

}  // namespace
}  // namespace holdfast::test
