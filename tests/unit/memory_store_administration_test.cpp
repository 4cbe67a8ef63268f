#include <gtest/gtest.h>

#include "unit/memory_store_world.hpp"

namespace holdfast::memory {
namespace {

using Clients = std::vector<int>;

TEST(MemoryStoreAdministration, EvictsHoldersAndTellsThem) {
  World world;
  world.acquire(1, {.mode = shared});
  world.acquire(2, {.mode = shared});
  world.acquire(3);
  world.acquire(4, {.mode = permits(1, 1)});
  EXPECT_EQ(world.evict(), 2U);
  EXPECT_EQ(world.evict(LockKind::semaphore), 1U);
  const std::vector<Event> events = world.store.take_events();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].kind, Event::Kind::check);
  EXPECT_EQ(events[2].kind, Event::Kind::granted);
  EXPECT_EQ(events[2].client, 3U);
  EXPECT_EQ(world.renew(1).standing, absent);
  EXPECT_GT(world.renew(3).number, 2U) << "the token still rises";
  world.name = "nobody's";
  EXPECT_EQ(world.evict(), 0U);
}

TEST(MemoryStoreAdministration, AsksHoldersToRelease) {
  World world;
  world.acquire(1);
  world.acquire(2);
  const ReleaseRequest request = {.reason = "deploying", .within = seconds(3)};
  EXPECT_EQ(world.store.ask_to_release(world.name, LockKind::lock, request, world.now), 1U);
  EXPECT_EQ(world.told_to_check(), Clients({1}));
  world.now += seconds(1);
  ASSERT_TRUE(world.renew(1).asked_to_release);
  EXPECT_EQ(world.renew(1).asked_to_release->reason, "deploying");
  EXPECT_EQ(world.renew(1).asked_to_release->within, seconds(2));
  world.now += seconds(4);
  EXPECT_EQ(world.renew(1).asked_to_release->within, seconds(0));
  EXPECT_FALSE(world.renew(2).asked_to_release);
  world.release(1);
  EXPECT_FALSE(world.renew(2).asked_to_release) << "only those who held were asked";
}

TEST(MemoryStoreAdministration, ListsHoldersAndWaitersByName) {
  World world;
  const auto identity = std::make_shared<const ClientIdentity>(ClientIdentity{.host = "here", .pid = 7});
  const std::chrono::system_clock::time_point wall(hours(1000));
  world.name = "b";
  world.acquire(1, {.mode = permits(2, 5)});
  world.name = "a/2";
  world.store.acquire(
      {.name = world.name, .id = World::id(2), .lease = seconds(10), .client = identity, .reason = "why"}, 2,
      world.now);
  world.name = "a/1";
  world.acquire(3, {.mode = shared});
  world.acquire(4);
  world.name = "gone";
  world.acquire(5);
  world.release(5);
  world.now += seconds(4);
  const auto all = world.store.list("", world.now, wall);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "a/1");
  EXPECT_EQ(all[0].number, 3U);
  EXPECT_EQ(all[0].holders.at(0).mode, ClaimMode::shared);
  EXPECT_EQ(all[0].waiters.at(0).mode, ClaimMode::exclusive);
  EXPECT_EQ(all[1].name, "a/2");
  EXPECT_EQ(all[1].holders.at(0).client.host, "here");
  EXPECT_EQ(all[1].holders.at(0).reason, "why");
  EXPECT_EQ(all[1].holders.at(0).since, wall - seconds(4));
  EXPECT_EQ(all[1].holders.at(0).lease_left, seconds(6));
  EXPECT_EQ(all[2].holders.at(0).permits, 2U);
  EXPECT_EQ(world.store.list("a/", world.now, wall).size(), 2U);
  EXPECT_EQ(world.store.list("a/", world.now + seconds(6), wall).size(), 0U);
}

TEST(MemoryStoreAdministration, ChangesTheTotalOfPermits) {
  World world;
  EXPECT_FALSE(world.store.resize(world.name, 3, world.now).value());
  world.acquire(1, {.mode = permits(3, 4)});
  world.acquire(2, {.mode = permits(4, 4)});
  world.acquire(3, {.mode = permits(1, 4)});
  EXPECT_TRUE(world.store.resize(world.name, 2, world.now).value());
  EXPECT_EQ(world.told_to_check(), Clients({2}));
  EXPECT_EQ(world.renew(2).standing, absent);
  EXPECT_EQ(world.renew(3).standing, waiting) << "3 of 2 are taken";
  EXPECT_EQ(world.store.list("", world.now, {}).at(0).total, 2U);
  EXPECT_TRUE(world.store.resize(world.name, 4, world.now).value());
  EXPECT_EQ(world.told_granted(), Clients({3}));
  EXPECT_FALSE(world.store.resize(world.name, 0, world.now).ok());
}

TEST(MemoryStoreAdministration, ListsHoldersByTheirNumbersHoweverTheyRenew) {
  World world;
  for (int claim = 1; claim <= 3; ++claim) {
    world.acquire(claim, {.mode = shared, .reason = std::to_string(claim)});
  }
  world.now += seconds(1);
  world.renew(2);
  world.renew(1);
  const auto holders = world.store.list("", world.now, {}).at(0).holders;
  ASSERT_EQ(holders.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(holders[i].reason, std::to_string(i + 1));
  EXPECT_EQ(world.acquire(4).check_after, milliseconds(9001)) << "of the one that did not renew";
}

}  // namespace
}  // namespace holdfast::memory
