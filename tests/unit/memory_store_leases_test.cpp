#include <gtest/gtest.h>

#include "unit/memory_store_world.hpp"

namespace holdfast::memory {
namespace {

using Clients = std::vector<int>;

TEST(MemoryStoreLeases, EndsLeasesWhoeverAsks) {
  World world;
  world.acquire(1);
  world.acquire(2, {.lease = seconds(30)});
  world.now += seconds(10);
  world.name = "another";
  world.renew(9);
  EXPECT_EQ(world.told_granted(), Clients({2}));
  EXPECT_EQ(world.store.counters().expiries, 1U);
  EXPECT_EQ(world.store.counters().takeovers, 1U);
  world.name = "name";
  EXPECT_EQ(world.renew(1).standing, absent) << "renewing never brings back";
  EXPECT_FALSE(world.release(1));
}

TEST(MemoryStoreLeases, CountsATakeoverByALaterComer) {
  World world;
  world.acquire(1);
  world.now += seconds(10);
  EXPECT_EQ(world.acquire(2).number, 2U);
  EXPECT_EQ(world.store.counters().takeovers, 1U);
  world.release(2);
  world.acquire(3);
  EXPECT_EQ(world.store.counters().takeovers, 1U);
}

TEST(MemoryStoreLeases, NeverExtendsALeaseByHandingOver) {
  World world;
  world.acquire(1);
  world.acquire(2);
  world.acquire(3, {.lease = seconds(30)});
  world.now += seconds(9);
  world.release(1);
  EXPECT_EQ(world.told_granted(), Clients({2}));
  world.now += seconds(1);
  world.store.advance(world.now);
  EXPECT_EQ(world.told_granted(), Clients({3})) << "10 s after claim 2 was armed, not after it was granted";
}

TEST(MemoryStoreLeases, SkipsWaitersThatDiedMeanwhile) {
  World world;
  world.acquire(1);
  for (int dead = 2; dead < 10; ++dead) world.acquire(dead);
  world.acquire(10, {.lease = seconds(20)});
  world.now += seconds(10);
  world.store.advance(world.now);
  EXPECT_EQ(world.told_granted(), Clients({10}));
  EXPECT_EQ(world.store.counters().expiries, 1U) << "only granted ones count";
}

TEST(MemoryStoreLeases, RenewsForAtLeastAsLongAsAskedAndNeverShortens) {
  World world;
  world.acquire(1);
  EXPECT_EQ(world.renew(1, seconds(1)).lease, seconds(10));
  world.now += seconds(5);
  EXPECT_EQ(world.renew(1, seconds(20)).lease, seconds(20));
  EXPECT_EQ(world.store.next_expiry(), world.now + seconds(20));
  EXPECT_EQ(world.renew(1, milliseconds::max()).standing, granted) << "for ever, without overflow";
}

TEST(MemoryStoreLeases, TellsWaitersWhenToAskAgain) {
  World world;
  world.acquire(1, {.mode = shared, .lease = seconds(20)});
  world.acquire(2, {.mode = shared, .lease = seconds(8)});
  EXPECT_EQ(world.acquire(3).check_after, milliseconds(8001));
  EXPECT_EQ(world.acquire(4).check_after, milliseconds(20001)) << "of one holder only";
  world.now += seconds(3);
  EXPECT_EQ(world.renew(3).check_after, milliseconds(5001));
}

}  // namespace
}  // namespace holdfast::memory
