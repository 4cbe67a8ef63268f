// How long a hold lasts.

#include <gtest/gtest.h>

#include <functional>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::errc_of;
using test::eventually;
using test::Recorder;

// M35
TEST_P(HoldConformance, RemainingIsBetweenZeroAndTheTtl) {
  Client client = open();
  const Hold hold = Mutex(client, "mine", {.ttl = 30s}).acquire();
  const auto first = hold.remaining();
  EXPECT_GT(first, 0s);
  EXPECT_LE(first, 30s);
}

// M35
TEST_P(FixedLeaseConformance, RemainingFalls) {
  Client client = open();
  const Hold hold = Mutex(client, "mine", {.ttl = 30s, .lease = LeaseKind::fixed}).acquire();
  const auto first = hold.remaining();
  EXPECT_TRUE(eventually([&] { return hold.remaining() < first; }));
}

// M36: every way to ask passes the lease on. The default is 10 s.
TEST_P(HoldConformance, EveryWayToAskAppliesTheRequestedLease) {
  Client client = open();
  Mutex mutex(client, "mine", {.ttl = 60s});
  const auto lasts_long = [](const Hold& hold) { return hold.remaining() > 40s && hold.remaining() <= 60s; };
  const auto locked = [&] {
    const bool result = lasts_long(mutex.hold());
    mutex.unlock();
    return result;
  };
  mutex.lock();
  EXPECT_TRUE(locked());
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_TRUE(locked());
  ASSERT_TRUE(mutex.try_lock_for(1s));
  EXPECT_TRUE(locked());
  ASSERT_TRUE(mutex.try_lock_until(steady_clock::now() + 1s));
  EXPECT_TRUE(locked());
  EXPECT_TRUE(lasts_long(mutex.acquire()));
  EXPECT_TRUE(lasts_long(mutex.try_acquire().value()));
  EXPECT_TRUE(lasts_long(mutex.try_acquire_for(1s).value()));
  EXPECT_TRUE(lasts_long(mutex.try_acquire_until(steady_clock::now() + 1s).value()));
  Recorder<bool> results;
  mutex.async_acquire([&](std::error_code code, Hold hold) { results.add(!code && lasts_long(hold)); });
  ASSERT_TRUE(results.reaches(1));
  EXPECT_TRUE(results.all().front());
  client.close();
}

// M36: after a hand-over inside a client, too.
TEST_P(HoldConformance, EachWaiterOfAClientGetsItsOwnLease) {
  Client client = open();
  Mutex brief(client, "mine", {.ttl = 20s});
  Mutex lasting(client, "mine", {.ttl = 600s});
  Hold first = brief.acquire();
  Background second([&](std::stop_token stop) { return lasting.acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  first.release();
  Hold hold = second.take();
  EXPECT_GT(hold.remaining(), 400s);
  EXPECT_LE(hold.remaining(), 600s);
}

// M37: the holder never counts on more than the store gave, whatever was rounded or clamped on the way.
TEST_P(HoldConformance, TheHolderCountsOnNoMoreThanTheStoreGave) {
  Client client = open();
  for (const milliseconds ttl : {milliseconds(20ms), milliseconds(700ms), milliseconds(5s), milliseconds(1h)}) {
    const Hold hold = Mutex(client, "mine", {.ttl = ttl}).acquire();
    const auto status = client.show("mine");
    const auto remaining = hold.remaining();           // later than the listing, so it must be less
    if (!status || status->holders.empty()) continue;  // 20 ms are over quickly
    EXPECT_LE(remaining, status->holders.front().lease_left + 2ms) << ttl.count();
  }
}

TEST_P(HoldConformance, TheShortestAndTheLongestLeaseAreAccepted) {
  Client client = open();
  EXPECT_TRUE(Mutex(client, "short", {.ttl = LockOptions::min_ttl}).acquire());
  const Hold hold = Mutex(client, "long", {.ttl = can().longest_ttl}).acquire();
  EXPECT_TRUE(hold.valid());
  EXPECT_LE(hold.remaining(), can().longest_ttl);
}

TEST_P(HoldConformance, SaysWhichLeaseItHasGot) {
  for (const milliseconds ttl : {milliseconds(20ms), milliseconds(1700ms), milliseconds(10s)}) {
    Client client = open();
    const Hold hold = Mutex(client, "mine", {.ttl = ttl}).acquire();
    const milliseconds in_units = (ttl + can().lease_unit - 1ms) / can().lease_unit * can().lease_unit;
    EXPECT_EQ(hold.lease(), std::max(in_units, can().shortest_lease)) << "asked for " << ttl.count() << " ms";
    EXPECT_LE(hold.remaining(), hold.lease());
  }
}

// M27
TEST_P(FixedLeaseConformance, ExtendingRaisesWhatRemains) {
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = 5s}).acquire();
  hold.extend(100s);
  EXPECT_GT(hold.remaining(), 80s);
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_GT(client.show("mine").value().holders.at(0).lease_left, 80s);
}

TEST_P(HoldConformance, ExtendingNeverShortens) {
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = 100s}).acquire();
  hold.extend(1s);
  EXPECT_GT(hold.remaining(), 80s);
  EXPECT_GT(client.show("mine").value().holders.at(0).lease_left, 80s);
}

// M28
TEST_P(FixedLeaseConformance, ExtendingAfterTheEndFails) {
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
  ASSERT_TRUE(eventually([&] { return !hold.valid(); }));
  EXPECT_EQ(errc_of([&] { hold.extend(10s); }), Errc::lost);
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(eventually([&] { return Mutex(client, "mine").try_acquire().has_value(); }));
}

// M29
TEST_P(HoldConformance, ExtendingALostHoldLeavesTheNewHolderAlone) {
  Client client = open();
  Client other = open();
  Hold old = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  ASSERT_TRUE(other.evict("mine"));
  const Hold current = Mutex(other, "mine", {.ttl = 20s}).acquire();
  EXPECT_EQ(errc_of([&] { old.extend(500s); }), Errc::lost);
  EXPECT_TRUE(current.valid());
  EXPECT_LE(current.remaining(), 20s);
  const LockStatus status = other.show("mine").value();
  ASSERT_EQ(status.holders.size(), 1u);
  EXPECT_EQ(status.holders[0].client.id, other.identity().id);
  EXPECT_LE(status.holders[0].lease_left, 21s);
}

// M30
TEST_P(HoldConformance, ExtendingAfterTheReleaseFails) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  ASSERT_EQ(hold.release(), Released::released);
  EXPECT_EQ(errc_of([&] { hold.extend(10s); }), Errc::not_held);
  EXPECT_FALSE(client.show("mine").has_value());
}

// M31
TEST_P(HoldConformance, IsRenewedForAsLongAsItIsHeld) {
  Client client = open();
  const Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  const auto end = steady_clock::now() + 4 * steady_ttl();
  EXPECT_TRUE(eventually(4 * steady_ttl() + test::patience, [&] { return steady_clock::now() > end; }));
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_GE(client.health().renewals, 4u);
  EXPECT_EQ(client.health().lost, 0u);
}

// M31: the place in the line is kept as well.
TEST_P(MutexConformance, AWaiterKeepsItsPlaceForLongerThanItsLease) {
  Client holder = open();
  Client client = open();
  Client last = open();
  Hold hold = Mutex(holder, "taken").acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(client, "taken", {.ttl = short_ttl()}).acquire(stop); });
  ASSERT_TRUE(line_becomes(holder, "taken", 1));
  const auto since = holder.show("taken").value().waiters.at(0).since;
  const auto end = steady_clock::now() + 3 * short_ttl();
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > end; }));
  const LockStatus status = holder.show("taken").value();
  ASSERT_EQ(status.waiters.size(), 1u);
  EXPECT_EQ(status.waiters[0].client.id, client.identity().id);
  EXPECT_LT(std::chrono::abs(status.waiters[0].since - since), short_ttl() / 2) << "it has joined the line again";
  hold.release();
  EXPECT_TRUE(waiter.take());
}

// M32
TEST_P(FixedLeaseConformance, EndsThoughItsHolderLives) {
  Client client = open();
  Client other = open();
  const auto begin = steady_clock::now();
  const Hold hold = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
  Background next([&](std::stop_token stop) { return Mutex(other, "mine").acquire(stop); });
  EXPECT_TRUE(next.take().valid());
  EXPECT_GE(steady_clock::now() - begin, short_ttl() * 9 / 10);
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.remaining(), 0s);
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_EQ(client.health().renewals, 0u);
}

// The holder hears first: whoever is granted the lock finds that its old holder knows.
TEST_P(FixedLeaseConformance, TheOldHolderKnowsBeforeTheNextIsGranted) {
  Client client = open();
  Client other = open();
  for (int round = 0; round < 5; ++round) {
    const Hold hold = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
    Background next([&](std::stop_token stop) {
      const Hold mine = Mutex(other, "mine").acquire(stop);
      return hold.valid();
    });
    EXPECT_FALSE(next.take());
  }
}

TEST_P(FixedLeaseConformance, LastsLongerWhenExtended) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
  hold.extend(60s);
  const auto end = steady_clock::now() + 2 * short_ttl();
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > end; }));
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(Mutex(other, "mine").try_acquire());
}

TEST_P(FixedLeaseConformance, EndsAfterItWasExtended) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
  hold.extend(2 * short_ttl());
  EXPECT_TRUE(Mutex(other, "mine").try_acquire_for(test::patience));
  EXPECT_FALSE(hold.valid());
}

// Time spent in line is not taken off the lease.
TEST_P(FixedLeaseConformance, LastsItsWholeTimeAfterAWait) {
  Client holder = open();
  Client client = open();
  Hold hold = Mutex(holder, "mine").acquire();
  Background waiter([&](std::stop_token stop) {
    return Mutex(client, "mine", {.ttl = 2 * steady_ttl(), .lease = LeaseKind::fixed}).acquire(stop);
  });
  ASSERT_TRUE(line_becomes(holder, "mine", 1));
  const auto end = steady_clock::now() + steady_ttl() / 2;
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > end; }));
  hold.release();
  const Hold mine = waiter.take();
  EXPECT_TRUE(eventually(steady_ttl(), [&] { return mine.remaining() > steady_ttl() * 3 / 2; }));
  EXPECT_TRUE(Mutex(holder, "mine").try_acquire_for(test::patience)) << "it ends all the same";
  EXPECT_FALSE(mine.valid());
}

TEST_P(FixedLeaseConformance, MayBeGivenBackBeforeItsEnd) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine", {.ttl = 60s, .lease = LeaseKind::fixed}).acquire();
  EXPECT_EQ(hold.release(), Released::released);
  EXPECT_TRUE(Mutex(other, "mine").try_acquire());
}

TEST_P(NoFixedLeaseConformance, ExtendingIsRefusedAndChangesNothing) {
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = 5s}).acquire();
  EXPECT_EQ(errc_of([&] { hold.extend(100s); }), Errc::unsupported);
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_LE(hold.remaining(), 5s);
}

TEST_P(NoFixedLeaseConformance, IsRefusedWithTheReason) {
  Client client = open();
  const auto error =
      test::error_of([&] { static_cast<void>(Mutex(client, "mine", {.lease = LeaseKind::fixed}).acquire()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::unsupported);
}

// M33: while another client's renewals go on, this one's have ended.
TEST_P(HoldConformance, RenewalEndsWithTheRelease) {
  Client client = open();
  Client other = open();
  const Hold rhythm = Mutex(other, "rhythm", {.ttl = steady_ttl()}).acquire();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= 1; }));
  ASSERT_EQ(hold.release(), Released::released);
  const auto renewals = client.health().renewals;
  const auto beats = other.health().renewals;
  ASSERT_TRUE(eventually([&] { return other.health().renewals >= beats + 4; }));
  EXPECT_EQ(client.health().renewals, renewals);
  EXPECT_EQ(client.health().failed_renewals, 0u);
}

TEST_P(HoldConformance, IsGivenUpAfterItsLongestTime) {
  Client client = open();
  Client other = open();
  Recorder<HoldState> states;
  {
    Hold hold = Mutex(client, "mine", {.ttl = steady_ttl(), .max_hold = 300ms}).acquire();
    const auto begin = steady_clock::now();
    hold.on_change([&](HoldState state) { states.add(state); });
    const auto next = Mutex(other, "mine").try_acquire_for(test::patience);
    EXPECT_TRUE(next);
    EXPECT_GE(steady_clock::now() - begin, 250ms);
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.state(), HoldState::lost);
    EXPECT_TRUE(eventually([&] { return hold.stop_token().stop_requested(); }));
    EXPECT_TRUE(states.reaches(1));
  }
  EXPECT_EQ(states.all(), std::vector{HoldState::lost});
  client.close();
}

TEST_P(MutexConformance, ALockedMutexIsGivenUpAfterItsLongestTime) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine", {.ttl = steady_ttl(), .max_hold = 200ms});
  mutex.lock();
  EXPECT_TRUE(Mutex(other, "mine").try_acquire_for(test::patience));
  EXPECT_EQ(mutex.hold().state(), HoldState::lost);
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_for(test::patience));
  mutex.unlock();
}

}  // namespace
}  // namespace holdfast::conformance
