#include <gtest/gtest.h>

#include "unit/memory_store_world.hpp"

namespace holdfast::memory {
namespace {

using Clients = std::vector<int>;

TEST(MemoryStoreLockDelays, KeepsTheNameClosedForALockDelay) {
  World world;
  world.acquire(1, {.lock_delay = seconds(5)});
  EXPECT_EQ(world.acquire(2, {.lease = hours(1)}).check_after, milliseconds(15001)) << "not before it could be open";
  world.now += seconds(10);
  EXPECT_EQ(world.renew(1).standing, absent);
  EXPECT_FALSE(world.release(1)) << "too late to open it";
  EXPECT_EQ(world.downgrade(1).standing, absent);
  EXPECT_EQ(world.renew(2).check_after, milliseconds(5001));
  EXPECT_EQ(world.renew(2).place, 1U);
  EXPECT_TRUE(world.store.list("", world.now, {}).at(0).holders.empty());
  EXPECT_EQ(world.store.next_expiry(), world.now + seconds(5));
  world.now += seconds(5) - milliseconds(1);
  EXPECT_EQ(world.renew(2).standing, waiting);
  world.now += milliseconds(1);
  world.store.advance(world.now);
  EXPECT_EQ(world.told_granted(), Clients({2}));
  EXPECT_EQ(world.store.counters().expiries, 1U);
  EXPECT_EQ(world.store.counters().takeovers, 1U);
}

TEST(MemoryStoreLockDelays, SkipsALockDelayThatIsOverWhenSomebodyAsks) {
  World world;
  world.acquire(1, {.lock_delay = seconds(5)});
  world.now += seconds(15);
  EXPECT_EQ(world.acquire(2).standing, granted);
  EXPECT_EQ(world.store.counters().expiries, 1U);
}

TEST(MemoryStoreLockDelays, BeginsASecondLifeBehindItsOwnGhost) {
  World world;
  world.acquire(1, {.lock_delay = seconds(5)});
  world.now += seconds(10);
  EXPECT_EQ(world.acquire(1, {.when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_EQ(world.acquire(1).place, 1U);
  EXPECT_EQ(world.acquire(2, {.replaces = 1}).place, 1U) << "the second life was replaced, the ghost is still there";
  world.now += seconds(5);
  EXPECT_EQ(world.renew(2).standing, granted);
  EXPECT_TRUE(world.release(2));
  EXPECT_TRUE(world.store.empty());
}

TEST(MemoryStoreLockDelays, KeepsALockDelayOnlyForHoldersThatEndByThemselves) {
  World world;
  const Options delayed = {.lock_delay = hours(1)};
  world.acquire(1, delayed);
  world.acquire(2, delayed);
  world.now += seconds(5);
  world.renew(1);
  world.now += seconds(5);
  EXPECT_EQ(world.renew(2).standing, absent);
  world.release(1);
  EXPECT_TRUE(world.store.empty()) << "neither after waiting nor after a release";
  world.acquire(3, delayed);
  world.acquire(4, {.replaces = 3});
  EXPECT_EQ(world.renew(4).standing, granted) << "nor for what was replaced";
  world.release(4);
  world.acquire(5, delayed);
  world.now += seconds(10);
  EXPECT_EQ(world.evict(), 0U) << "a ghost is nobody";
  EXPECT_EQ(world.told_to_check(), Clients());
  EXPECT_TRUE(world.store.empty()) << "but an operator opens the name";
}

TEST(MemoryStoreLockDelays, KeepsTheLockDelayOfAWaiterForItsOwnTurn) {
  World world;
  world.acquire(1);
  world.acquire(2, {.lock_delay = seconds(5)});
  world.acquire(3, {.lease = hours(1)});
  world.now += seconds(9);
  world.release(1);
  EXPECT_EQ(world.told_granted(), Clients({2}));
  world.now += seconds(5);
  EXPECT_EQ(world.renew(3).standing, waiting) << "its lease has ended a second after its turn came";
  world.now += seconds(1);
  EXPECT_EQ(world.renew(3).standing, granted);
}

TEST(MemoryStoreLockDelays, KeepsWhatAGhostTookAndNoMore) {
  World world;
  world.acquire(1, {.mode = shared, .lock_delay = seconds(5)});
  world.acquire(2, {.mode = permits(2, 3), .lock_delay = seconds(5)});
  world.now += seconds(10);
  EXPECT_EQ(world.acquire(3, {.mode = shared}).standing, granted) << "a reader does not keep out readers";
  EXPECT_EQ(world.acquire(4).standing, waiting);
  EXPECT_EQ(world.acquire(5, {.mode = permits(1, 3)}).standing, granted);
  EXPECT_EQ(world.acquire(6, {.mode = permits(1, 3)}).standing, waiting);
  EXPECT_FALSE(world.try_acquire(7, {.mode = permits(1, 4)}).ok()) << "the total stays as long";
  world.release(3);
  EXPECT_EQ(world.renew(4).standing, waiting);
  world.now += seconds(5);
  EXPECT_EQ(world.renew(4).standing, granted);
  EXPECT_EQ(world.renew(6).standing, granted);
}

}  // namespace
}  // namespace holdfast::memory
