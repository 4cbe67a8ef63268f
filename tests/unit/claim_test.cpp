#include "core/engine/claim.hpp"

#include <gtest/gtest.h>

#include "support/scripted_engine.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using base::Instant;
using spi::Failure;

HoldState state(ScriptedEngine& client, Call& call) { return call.hold().state_at(client.loop.now()); }

TEST(Claim, CountsItsLeaseFromWhenItWasArmedLessTheDrift) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const Instant sent = client.loop.now();
  client.loop.advance(100ms);
  client.answer(client.store->next_acquire(), ScriptedEngine::granted(7, sent));
  EXPECT_EQ(call->hold().valid_until(), sent + 3s - 30ms - 2ms);
}

TEST(Claim, IsRenewedAfterAThirdOfItsLease) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(800ms);
  EXPECT_TRUE(client.store->renews.empty());
  client.loop.advance(200ms);
  ASSERT_EQ(client.store->renews.size(), 1U);
  client.answer(client.store->next_renew(), std::vector{client.granted(7)});
  EXPECT_EQ(call->hold().valid_until(), client.loop.now() + 3s - 32ms);
}

TEST(Claim, IsNotRenewedWithoutAPauseWhenTheStoreProvesLate) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  Instant proved = client.loop.now();
  int renewals = 0;
  for (int i = 0; i < 90; ++i) {
    client.loop.advance(100ms);
    if (client.store->renews.empty()) continue;
    ++renewals;
    client.answer(client.store->next_renew(), std::vector{ScriptedEngine::granted(7, proved)});
    proved = client.loop.now();
  }
  EXPECT_EQ(state(client, *call), HoldState::held);
  EXPECT_LE(renewals, 12);
}

TEST(Claim, IsRenewedTogetherWithOthers) {
  ScriptedEngine client;
  std::vector<std::unique_ptr<Call>> calls;
  for (const char* name : {"a", "b", "c"}) {
    calls.push_back(client.call(name));
    client.answer(client.store->next_acquire(), client.granted(7));
  }
  client.loop.advance(1s);
  ASSERT_EQ(client.store->renews.size(), 1U);
  EXPECT_EQ(client.store->renews.front().ids.size(), 3U);
}

/// Many that are held, and due for renewal at the same time.
std::vector<std::unique_ptr<Call>> hold_many(ScriptedEngine& client, std::size_t count) {
  std::vector<std::unique_ptr<Call>> calls;
  for (std::size_t i = 0; i < count; ++i) {
    calls.push_back(client.call("lock-" + std::to_string(i)));
    client.answer(client.store->next_acquire(), client.granted(7));
  }
  client.loop.advance(1s);
  return calls;
}

TEST(Claim, IsRenewedAfterOthersIfTheyAreMany) {
  ScriptedEngine client;
  const auto calls = hold_many(client, 2500);
  for (const std::size_t expected : {1024U, 1024U, 452U}) {
    ASSERT_EQ(client.store->renews.size(), 1U) << "they do not wait for each other in the store";
    ASSERT_EQ(client.store->renews.front().ids.size(), expected);
    client.loop.advance(400ms);  // almost all of a request's patience
    client.answer(client.store->next_renew(), std::vector(expected, client.granted(7)));
  }
  for (const auto& call : calls) EXPECT_EQ(state(client, *call), HoldState::held);
}

TEST(Claim, IsAtRiskAtOnceWithTheOthersIfTheyAreMany) {
  ScriptedEngine client;
  const auto calls = hold_many(client, 2500);
  client.answer(client.store->next_renew(), Failure{Errc::in_doubt, {}});
  for (const auto& call : calls) EXPECT_EQ(state(client, *call), HoldState::at_risk);
  EXPECT_TRUE(client.store->renews.empty()) << "nobody would answer";

  client.loop.advance(500ms);
  while (!client.store->renews.empty()) {
    auto renewal = client.store->next_renew();
    const std::size_t count = renewal.ids.size();
    client.answer(std::move(renewal), std::vector(count, client.granted(7)));
  }
  for (const auto& call : calls) EXPECT_EQ(state(client, *call), HoldState::held);
}

TEST(Claim, IsRenewedThoughAnotherBatchIsRefused) {
  ScriptedEngine client;
  const auto calls = hold_many(client, 1500);
  client.answer(client.store->next_renew(), Failure{Errc::store_failed, {}});
  auto renewal = client.store->next_renew();
  EXPECT_EQ(renewal.ids.size(), 476U);
}

TEST(Claim, IsAtRiskAfterAFailedRenewalAndHeldAgainAfterAGoodOne) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), Failure{Errc::in_doubt, {}});
  EXPECT_EQ(state(client, *call), HoldState::at_risk);

  client.loop.advance(500ms);
  client.answer(client.store->next_renew(), std::vector{client.granted(7)});
  EXPECT_EQ(state(client, *call), HoldState::held);
}

TEST(Claim, IsLostAtVWithoutAnAnswer) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  const Instant valid_until = call->hold().valid_until();
  client.loop.advance(valid_until - client.loop.now() - 1ns);
  EXPECT_NE(state(client, *call), HoldState::lost);
  client.loop.advance(1ns);
  EXPECT_EQ(state(client, *call), HoldState::lost);
  EXPECT_EQ(call->hold().cell(), nullptr) << "noticed, not only true";
  EXPECT_EQ(client.store->releases.size(), 1U) << "the store may still have it";
}

TEST(Claim, StaysDeadWhenALateRenewalSucceeds) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  auto renewal = client.store->next_renew();
  client.loop.advance(2s);
  client.answer(std::move(renewal), std::vector{client.granted(7)});
  EXPECT_EQ(state(client, *call), HoldState::lost);
}

TEST(Claim, StaysDeadWhenTheAnswerIsReadBeforeTheTimerRuns) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  const auto renewed = client.granted(7);
  client.loop.pause(2s);  // stopped past the first V, but not past the renewed one
  ASSERT_EQ(state(client, *call), HoldState::lost);
  client.store->next_renew().done(std::vector{renewed});
  EXPECT_EQ(state(client, *call), HoldState::lost);
}

TEST(Claim, StaysDeadOnceAnybodySawItLost) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  auto renewal = client.store->next_renew();
  ASSERT_EQ(call->hold().state_at(client.loop.now() + 2s), HoldState::lost) << "another thread's clock is ahead";
  client.answer(std::move(renewal), std::vector{client.granted(7)});
  EXPECT_EQ(state(client, *call), HoldState::lost);
  EXPECT_EQ(client.store->releases.size(), 1U) << "and is given back";
}

TEST(Claim, IsLostWhenTheStoreHasItNoMore) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{ScriptedEngine::absent()});
  EXPECT_EQ(state(client, *call), HoldState::lost);
  EXPECT_TRUE(client.store->releases.empty());
}

TEST(Claim, IsLostWhenItWasGrantedAnewMeanwhile) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{client.granted(9)});
  EXPECT_EQ(state(client, *call), HoldState::lost);
}

TEST(Claim, DoesNotBelieveAGrantThatIsOlderThanItsLease) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const Instant sent = client.loop.now();
  client.loop.advance(3s);
  client.answer(client.store->next_acquire(), ScriptedEngine::granted(7, sent));
  EXPECT_FALSE(call->answer);
  ASSERT_EQ(client.store->renews.size(), 1U) << "asks whether it is still there";
  client.answer(client.store->next_renew(), std::vector{ScriptedEngine::absent()});
  EXPECT_EQ(client.store->acquires.size(), 1U);
}

TEST(Claim, TakesAPushedGrantWithTheLeaseItLastRenewed) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const auto id = client.store->acquires.front().id;
  const Instant armed = client.loop.now();
  client.answer(client.store->next_acquire(), client.waiting());
  client.loop.advance(500ms);

  client.engine.granted("a", LockKind::lock, id, ScriptedEngine::granted(7, Instant::min()));
  ASSERT_TRUE(call->held());
  EXPECT_EQ(call->hold().valid_until(), armed + 3s - 32ms);
}

TEST(Claim, OnlyChecksAPushOfAnEarlierLifeOfItsId) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const auto id = client.store->acquires.front().id;
  auto waiting = client.waiting();
  waiting.number = 44;
  client.answer(client.store->next_acquire(), waiting);
  client.engine.granted("a", LockKind::lock, id, ScriptedEngine::granted(43, Instant::min()));
  client.loop.run();
  EXPECT_FALSE(call->answer);
  EXPECT_EQ(client.store->renews.size(), 1U);
  client.engine.granted("a", LockKind::lock, id, ScriptedEngine::granted(44, Instant::min()));
  EXPECT_TRUE(call->held());
}

TEST(Claim, OnlyChecksAPushThatOvertookTheAcknowledgement) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const auto id = client.store->acquires.front().id;
  client.engine.granted("a", LockKind::lock, id, ScriptedEngine::granted(7, Instant::min()));
  EXPECT_FALSE(call->answer);
  client.answer(client.store->next_acquire(), client.waiting());
  ASSERT_EQ(client.store->renews.size(), 1U);
  client.answer(client.store->next_renew(), std::vector{client.granted(7)});
  EXPECT_TRUE(call->held());
}

TEST(Claim, TreatsAHintAsAQuestionAndNotAsAGrant) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const auto id = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.waiting());
  client.engine.check("a", LockKind::lock, id);
  client.loop.run();
  EXPECT_FALSE(call->answer);
  ASSERT_EQ(client.store->renews.size(), 1U);
  client.engine.check("a", LockKind::lock, id);
  client.answer(client.store->next_renew(), std::vector{client.waiting()});
  EXPECT_EQ(client.store->renews.size(), 1U) << "a hint during the question asks again";
}

TEST(Claim, IgnoresNewsOfOtherClaims) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const auto id = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.waiting());
  client.engine.granted("a", LockKind::semaphore, id, ScriptedEngine::granted(7, Instant::min()));
  client.engine.check("a", LockKind::semaphore, id);
  client.engine.granted("a", LockKind::lock, {1, 2}, ScriptedEngine::granted(7, Instant::min()));
  client.engine.check("a", LockKind::lock, {1, 2});
  client.engine.granted("unknown", LockKind::lock, {1, 2}, ScriptedEngine::granted(7, Instant::min()));
  client.loop.run();
  EXPECT_FALSE(call->answer);
  EXPECT_TRUE(client.store->renews.empty());
}

TEST(Claim, RechecksAsSoonAsTheStoreAdvises) {
  ScriptedEngine client;
  const auto call = client.call("a");
  auto waiting = client.waiting();
  waiting.check_after = 50ms;
  client.answer(client.store->next_acquire(), waiting);
  client.loop.advance(50ms);
  EXPECT_EQ(client.store->renews.size(), 1U);
}

TEST(Claim, AsksAnewWithAnotherIdWhenItsPlaceInLineIsGone) {
  ScriptedEngine client;
  const auto call = client.call("a");
  const auto id = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.waiting());
  client.loop.advance(1s);
  client.answer(client.store->next_renew(), std::vector{ScriptedEngine::absent()});
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_NE(client.store->acquires.front().id, id);
  EXPECT_EQ(client.store->acquires.front().replaces, id);
}

TEST(Claim, RepeatsAReleaseUntilItIsConfirmed) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  call->release();
  const auto id = client.store->releases.front().id;
  client.answer(client.store->next_release(), Failure{Errc::in_doubt, {}});
  client.loop.advance(500ms);
  ASSERT_EQ(client.store->releases.size(), 1U);
  EXPECT_EQ(client.store->releases.front().id, id);
  client.answer(client.store->next_release(), false);
  EXPECT_TRUE(client.reports.empty());
  EXPECT_EQ(client.engine.cells(), 0U);
}

TEST(Claim, GivesUpAReleaseWhenTheLeaseHasSurelyEndedAndReportsIt) {
  ScriptedEngine client;
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  call->release();
  for (int i = 0; i < 100 && !client.store->releases.empty(); ++i) {
    client.answer(client.store->next_release(), Failure{Errc::in_doubt, {}});
    client.loop.advance(500ms);
  }
  EXPECT_EQ(client.reports, std::vector{Errc::in_doubt});
  EXPECT_EQ(client.engine.cells(), 0U);
}

TEST(Claim, IsReplacedByTheNextWhileItsReleaseIsUnconfirmed) {
  ScriptedEngine client;
  const auto first = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  first->release();
  const auto old = client.store->releases.front().id;
  const auto second = client.call("a");
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_EQ(client.store->acquires.front().replaces, old);
}

TEST(Claim, IsReleasedAfterAllWhenItsReplacementIsGivenUp) {
  ScriptedEngine client;
  const auto first = client.call("a");
  const auto held = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(1ms);
  const auto second = client.call("a", {.ttl = 5s}, spi::WhenBusy::wait, client.loop.now() + 100ms);
  first->release();
  ASSERT_EQ(client.store->acquires.front().replaces, held);
  EXPECT_TRUE(client.store->releases.empty());

  const auto replacement = client.store->next_acquire();  // never answered
  client.loop.advance(100ms);
  EXPECT_EQ(second->failed(), Errc::in_doubt);
  ASSERT_EQ(client.store->releases.size(), 2U);
  EXPECT_EQ(client.store->releases[0].id, held);
  EXPECT_EQ(client.store->releases[1].id, replacement.id);
  for (int i = 0; i < 2; ++i) client.answer(client.store->next_release(), Failure{Errc::unreachable, {}});
  client.loop.advance(1s);
  EXPECT_EQ(client.store->releases.size(), 2U) << "both are followed";
}

TEST(Claim, DoesNotRenewAFixedLease) {
  ScriptedEngine client;
  const auto call = client.call("a", {.ttl = 3s, .lease = LeaseKind::fixed});
  client.answer(client.store->next_acquire(), client.granted(7));
  client.loop.advance(2900ms);
  EXPECT_TRUE(client.store->renews.empty());
  client.loop.advance(100ms);
  EXPECT_EQ(state(client, *call), HoldState::lost);
}

TEST(Claim, GivesAFixedLeaseInFullAfterAWaitAndThenOnlyAsks) {
  ScriptedEngine client;
  const auto call = client.call("a", {.ttl = 3s, .lease = LeaseKind::fixed});
  const auto id = client.store->acquires.front().id;
  client.answer(client.store->next_acquire(), client.waiting());
  client.loop.advance(500ms);
  client.engine.granted("a", LockKind::lock, id, ScriptedEngine::granted(7, Instant::min()));
  client.loop.run();
  ASSERT_EQ(client.store->renews.size(), 1U);
  EXPECT_EQ(client.store->renews.front().leases.front(), 3s);
  client.answer(client.store->next_renew(), std::vector{client.granted(7)});
  EXPECT_EQ(call->hold().valid_until(), client.loop.now() + 3s - 32ms);

  client.engine.check("a", LockKind::lock, id);
  client.loop.run();
  ASSERT_EQ(client.store->renews.size(), 1U);
  EXPECT_EQ(client.store->renews.front().leases.front(), 0s);
}

TEST(Claim, IsExtendedByWhatTheStoreAcknowledged) {
  ScriptedEngine client;
  const auto call = client.call("a", {.ttl = 3s, .lease = LeaseKind::fixed});
  client.answer(client.store->next_acquire(), client.granted(7));
  std::optional<spi::Result<>> extended;
  call->cell.extend(call->hold(), 10s, [&](spi::Result<> result) { extended = std::move(result); });
  ASSERT_EQ(client.store->renews.size(), 1U);
  EXPECT_EQ(client.store->renews.front().leases.front(), 10s);
  auto answer = client.granted(7);
  answer.lease = 10s;
  client.answer(client.store->next_renew(), std::vector{answer});
  ASSERT_TRUE(extended && extended->ok());
  EXPECT_EQ(call->hold().valid_until(), client.loop.now() + 10s - 102ms);
}

}  // namespace
}  // namespace holdfast::test
