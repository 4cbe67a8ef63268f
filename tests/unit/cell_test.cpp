#include "core/engine/cell.hpp"

#include <gtest/gtest.h>

#include "support/scripted_engine.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using base::Instant;
using spi::Failure;
using spi::WhenBusy;

const LockOptions three_seconds{.ttl = 3s};

TEST(Cell, ShowsOneClaimForManyWaiters) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto second = client.call("a");
  const auto third = client.call("a");

  EXPECT_EQ(client.store->acquires.size(), 1U);
  client.answer(client.store->next_acquire(), client.granted(7));
  EXPECT_TRUE(first->held());
  EXPECT_FALSE(second->held());
  EXPECT_FALSE(third->held());
}

TEST(Cell, HandsOverToTheNextLocalWaiterWithALargerToken) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto second = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));

  first->release();
  EXPECT_TRUE(second->held());
  EXPECT_EQ(first->hold().token, Token(7 << 8));
  EXPECT_EQ(second->hold().token, Token(7 << 8 | 1));
  EXPECT_TRUE(client.store->releases.empty());
  EXPECT_TRUE(client.store->acquires.empty());
}

TEST(Cell, JoinsTheEndOfTheLineAfterItsLocalTurns) {
  ScriptedEngine client({.local_turns = 2});
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(client.call("a"));
  const auto asked = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.granted(7));

  calls[0]->release();
  calls[1]->release();
  ASSERT_TRUE(calls[2]->held());
  calls[2]->release();
  EXPECT_FALSE(calls[3]->held());
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_EQ(client.store->acquires.front().replaces, asked);
  EXPECT_NE(client.store->acquires.front().id, asked);
}

TEST(Cell, JoinsTheEndOfTheLineAfterItsLocalTime) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto second = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));

  client.loop.advance(50ms);
  first->release();
  EXPECT_FALSE(second->held());
  EXPECT_EQ(client.store->acquires.size(), 1U);
}

TEST(Cell, GivesBareNumbersWithoutLocalTurns) {
  ScriptedEngine client({.local_turns = 0});
  const auto first = client.call("a");
  const auto second = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));

  EXPECT_EQ(first->hold().token, Token(7));
  first->release();
  EXPECT_FALSE(second->held());
}

TEST(Cell, DoesNotShareAClaimBetweenDifferentTtls) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto second = client.call("a", {.ttl = 5s});
  client.answer(client.store->next_acquire(), client.granted(7));

  first->release();
  EXPECT_FALSE(second->held());
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_EQ(client.store->acquires.front().lease, 5s);
}

TEST(Cell, NeverHandsOverAFixedLease) {
  ScriptedEngine client;
  const auto first = client.call("a", {.ttl = 3s, .lease = LeaseKind::fixed});
  const auto second = client.call("a", {.ttl = 3s, .lease = LeaseKind::fixed});
  client.answer(client.store->next_acquire(), client.granted(7));

  first->release();
  EXPECT_FALSE(second->held());
}

TEST(Cell, RefusesATryAtOnceWhileSomebodyHereHoldsOrWaits) {
  ScriptedEngine client;
  const auto waiter = client.call("a");
  EXPECT_EQ(client.call("a", three_seconds, WhenBusy::refuse)->failed(), Errc::busy);
  client.answer(client.store->next_acquire(), client.granted(7));
  EXPECT_EQ(client.call("a", three_seconds, WhenBusy::refuse)->failed(), Errc::busy);
  EXPECT_TRUE(client.store->acquires.empty());
}

TEST(Cell, AsksTheStoreForATryAndThenForTheWaiterBehindIt) {
  ScriptedEngine client;
  const auto attempt = client.call("a", three_seconds, WhenBusy::refuse);
  const auto waiter = client.call("a");
  ASSERT_EQ(client.store->acquires.size(), 1U);

  client.answer(client.store->next_acquire(), ScriptedEngine::absent());
  EXPECT_EQ(attempt->failed(), Errc::busy);
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_EQ(client.store->acquires.front().when_busy, WhenBusy::wait);
  client.answer(client.store->next_acquire(), client.granted(9));
  EXPECT_TRUE(waiter->held());
}

TEST(Cell, LeavesTheLineWhenTheLastWaiterGivesUp) {
  ScriptedEngine client;
  const auto first = client.call("a", three_seconds, WhenBusy::wait, client.loop.now() + 100ms);
  const auto second = client.call("a", three_seconds, WhenBusy::wait, client.loop.now() + 200ms);
  client.answer(client.store->next_acquire(), client.waiting());

  client.loop.advance(100ms);
  EXPECT_EQ(first->failed(), Errc::timed_out);
  EXPECT_TRUE(client.store->releases.empty());
  client.loop.advance(100ms);
  EXPECT_EQ(second->failed(), Errc::timed_out);
  ASSERT_EQ(client.store->releases.size(), 1U);
  client.answer(client.store->next_release(), true);
  EXPECT_EQ(client.engine.cells(), 0U);
}

TEST(Cell, GivesBackAGrantThatNobodyWantsAnyMore) {
  ScriptedEngine client;
  const auto waiter = client.call("a", three_seconds, WhenBusy::wait, client.loop.now() + 100ms);
  auto acquire = client.store->next_acquire();
  client.loop.advance(100ms);
  EXPECT_EQ(waiter->failed(), Errc::unreachable) << "there never was any contact";
  ASSERT_EQ(client.store->releases.size(), 1U);
  EXPECT_EQ(client.store->releases.front().id, acquire.id);

  client.answer(std::move(acquire), client.granted(7));
  EXPECT_FALSE(waiter->held());
  client.answer(client.store->next_release(), true);
  EXPECT_EQ(client.engine.cells(), 0U);
}

TEST(Cell, IsUnreachableWithoutAnyContactWithinTheConnectTimeout) {
  ScriptedEngine client({.connect_timeout = 1s});
  const auto waiter = client.call("a");
  client.answer(client.store->next_acquire(), Failure{Errc::unreachable, "connection refused"});
  client.loop.advance(999ms);
  EXPECT_FALSE(waiter->answer);
  client.loop.advance(1ms);
  EXPECT_EQ(waiter->failed(), Errc::unreachable);
}

TEST(Cell, SurvivesAnOutageOnceTheStoreWasReached) {
  ScriptedEngine client({.connect_timeout = 1s});
  const auto holder = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(1));
  const auto waiter = client.call("b");
  const auto id = client.store->acquires.front().id;
  for (int i = 0; i < 20; ++i) {
    client.answer(client.store->next_acquire(), Failure{Errc::unreachable, "connection refused"});
    client.loop.advance(500ms);
  }
  EXPECT_FALSE(waiter->answer);
  EXPECT_EQ(client.store->acquires.front().id, id) << "repeated with the same id";
  client.answer(client.store->next_acquire(), client.granted(2));
  EXPECT_TRUE(waiter->held());
}

TEST(Cell, DoesNotLetATryWaitForAStoreThatWentAway) {
  ScriptedEngine client;
  const auto attempt = client.call("a", three_seconds, WhenBusy::refuse);
  const Instant sent = client.loop.now();
  client.loop.pause(3s);
  client.answer(client.store->next_acquire(), ScriptedEngine::granted(7, sent));
  client.answer(client.store->next_renew(), Failure{Errc::unreachable, "gone"});
  EXPECT_EQ(attempt->failed(), Errc::unreachable);
  EXPECT_EQ(client.store->releases.size(), 1U);
}

TEST(Cell, TellsEverybodyWhatCannotBeMended) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto second = client.call("a");
  client.answer(client.store->next_acquire(), Failure{Errc::access_denied, "no permission"});
  EXPECT_EQ(first->failed(), Errc::access_denied);
  EXPECT_EQ(second->failed(), Errc::access_denied);
}

TEST(Cell, DoesNotBlockItsLineWithALostHold) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto second = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));

  client.loop.advance(3s);
  EXPECT_EQ(first->hold().state_at(client.loop.now()), HoldState::lost);
  ASSERT_EQ(client.store->acquires.size(), 1U);
  client.answer(client.store->next_acquire(), client.granted(8));
  EXPECT_TRUE(second->held());
}

TEST(Cell, EndsAHoldAtItsMaximum) {
  ScriptedEngine client;
  const auto call = client.call("a", {.ttl = 3s, .max_hold = 500ms});
  client.answer(client.store->next_acquire(), client.granted(7));
  EXPECT_EQ(call->hold().valid_until(), client.loop.now() + 500ms);

  client.loop.advance(500ms);
  EXPECT_EQ(call->hold().state_at(client.loop.now()), HoldState::lost);
  EXPECT_EQ(client.store->releases.size(), 1U);
}

TEST(Cell, IsForgottenWhenItHasNothingToDo) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  call->release();
  EXPECT_EQ(client.engine.cells(), 1U) << "the release is being followed";
  client.answer(client.store->next_release(), true);
  EXPECT_EQ(client.engine.cells(), 0U);
}

TEST(Cell, AnswersClosedAndGivesBackWhenTheClientCloses) {
  ScriptedEngine client;
  const auto holder = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  const auto waiter = client.call("a");
  bool closed = false;
  client.engine.close(1s, [&] { closed = true; });

  EXPECT_EQ(waiter->failed(), Errc::closed);
  EXPECT_EQ(holder->hold().state_at(client.loop.now()), HoldState::lost);
  EXPECT_FALSE(closed);
  client.answer(client.store->next_release(), true);
  EXPECT_TRUE(closed);
  EXPECT_TRUE(client.store->closed);
}

TEST(Cell, DoesNotWaitForEverToClose) {
  ScriptedEngine client;
  const auto holder = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  bool closed = false;
  client.engine.close(1s, [&] { closed = true; });
  client.loop.advance(1s);
  EXPECT_TRUE(closed);
}

/// Nothing was granted, so there is nothing to give back. What was asked for may have arrived all the same: its
/// withdrawal is sent, and nobody waits for an answer that has never come before.
TEST(Cell, HardlyWaitsForAStoreThatHasNeverAnswered) {
  ScriptedEngine client;
  const auto waiter = client.call("a");
  bool closed = false;
  client.engine.close(60s, [&] { closed = true; });
  client.loop.advance(99ms);
  EXPECT_EQ(client.store->releases.size(), 1U);
  EXPECT_FALSE(closed);
  client.loop.advance(1ms);
  EXPECT_TRUE(closed);
}

TEST(Cell, WaitsForAStoreThatHasAnsweredOnce) {
  ScriptedEngine client;
  const auto holder = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  bool closed = false;
  client.engine.close(60s, [&] { closed = true; });
  client.loop.advance(59s);
  EXPECT_FALSE(closed);
  client.loop.advance(1s);
  EXPECT_TRUE(closed);
}

}  // namespace
}  // namespace holdfast::test
