#include <gtest/gtest.h>

#include <map>
#include <random>

#include "unit/memory_store_world.hpp"

namespace holdfast::memory {
namespace {

using Clients = std::vector<int>;

TEST(MemoryStore, GrantsAFreeNameAtOnce) {
  World world;
  const ClaimAnswer answer = world.acquire(1);
  EXPECT_EQ(answer.standing, granted);
  EXPECT_EQ(answer.number, 1U);
  EXPECT_EQ(answer.lease, seconds(10));
  EXPECT_EQ(answer.armed_at, Instant::min());
  EXPECT_TRUE(world.store.take_events().empty());
}

TEST(MemoryStore, HandsOverToTheNextInLine) {
  World world;
  world.acquire(1);
  EXPECT_EQ(world.acquire(2).place, 1U);
  EXPECT_EQ(world.acquire(3).place, 2U);
  EXPECT_TRUE(world.release(1));
  const std::vector<Event> events = world.store.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].client, 2U);
  EXPECT_EQ(events[0].kind, Event::Kind::granted);
  EXPECT_EQ(events[0].name, world.name);
  EXPECT_EQ(events[0].id, World::id(2));
  EXPECT_EQ(events[0].answer.standing, granted);
  EXPECT_EQ(events[0].answer.number, 2U);
  EXPECT_EQ(events[0].answer.armed_at, Instant::min());
  EXPECT_EQ(world.renew(3).place, 1U);
}

TEST(MemoryStore, KeepsDifferentNamesApartEvenForOneId) {
  World world;
  EXPECT_EQ(world.acquire(1).standing, granted);
  world.name = "other";
  EXPECT_EQ(world.acquire(1).number, 2U);
  EXPECT_TRUE(world.release(1));
  EXPECT_FALSE(world.release(1));
  world.name = "name";
  EXPECT_EQ(world.renew(1).number, 1U);
}

TEST(MemoryStore, RefusesWithoutATraceWhenBusy) {
  World world;
  world.acquire(1);
  EXPECT_EQ(world.acquire(2, {.when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_EQ(world.renew(2).standing, absent);
  world.release(1);
  EXPECT_TRUE(world.store.empty());
  EXPECT_EQ(world.acquire(2, {.when_busy = WhenBusy::refuse}).standing, granted);
}

TEST(MemoryStore, RefusesToOvertakeTheLine) {
  World world;
  world.acquire(1, {.mode = shared});
  world.acquire(2);
  EXPECT_EQ(world.acquire(3, {.mode = shared, .when_busy = WhenBusy::refuse}).standing, absent);
}

TEST(MemoryStore, FindsARepeatedClaimWhereItStands) {
  World world;
  world.acquire(1);
  world.acquire(2);
  world.acquire(3);
  world.now += seconds(4);
  EXPECT_EQ(world.acquire(1).number, 1U);
  EXPECT_EQ(world.acquire(2).place, 1U);
  EXPECT_EQ(world.acquire(2, {.lease = seconds(1)}).lease, seconds(10)) << "never shortens";
  world.now += seconds(7);
  EXPECT_EQ(world.renew(3).standing, absent) << "only the repeated ones were armed again";
  EXPECT_EQ(world.renew(2).standing, waiting);
  EXPECT_EQ(world.store.counters().grants, 1U);
}

TEST(MemoryStore, LetsReadersInTogetherAndStopsThemBehindAWriter) {
  World world;
  EXPECT_EQ(world.acquire(1, {.mode = shared}).standing, granted);
  EXPECT_EQ(world.acquire(2, {.mode = shared}).standing, granted);
  EXPECT_EQ(world.acquire(3).place, 2U);
  EXPECT_EQ(world.acquire(4, {.mode = shared}).place, 3U);
  EXPECT_EQ(world.acquire(5, {.mode = shared}).place, 4U);
  EXPECT_EQ(world.acquire(6).place, 5U);
  world.release(1);
  EXPECT_EQ(world.told_granted(), Clients());
  world.release(2);
  EXPECT_EQ(world.told_granted(), Clients({3}));
  world.release(3);
  EXPECT_EQ(world.told_granted(), Clients({4, 5}));
}

TEST(MemoryStore, LetsReadersThroughWhenTheWriterBeforeThemLeaves) {
  World world;
  world.acquire(1, {.mode = shared});
  world.acquire(2);
  world.acquire(3, {.mode = shared});
  EXPECT_TRUE(world.release(2));
  EXPECT_EQ(world.told_granted(), Clients({3}));
}

TEST(MemoryStore, CountsPermitsAndServesThemInOrder) {
  World world;
  EXPECT_EQ(world.acquire(1, {.mode = permits(2, 3)}).standing, granted);
  EXPECT_EQ(world.acquire(2, {.mode = permits(2, 3)}).standing, waiting);
  EXPECT_EQ(world.acquire(3, {.mode = permits(1, 3)}).standing, waiting) << "it would fit, but it is not its turn";
  world.release(1);
  EXPECT_EQ(world.told_granted(), Clients({2, 3}));
}

TEST(MemoryStore, KeepsPermitsAndLocksOfOneNameApart) {
  World world;
  EXPECT_EQ(world.acquire(1).standing, granted);
  EXPECT_EQ(world.acquire(2, {.mode = permits(1, 1)}).standing, granted);
  EXPECT_TRUE(world.release(2));
  EXPECT_EQ(world.acquire(3).standing, waiting);
}

TEST(MemoryStore, RefusesPermitsOutOfAnotherTotal) {
  World world;
  world.acquire(1, {.mode = permits(1, 3)});
  const auto answer = world.try_acquire(2, {.mode = permits(1, 4)});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, Errc::invalid_argument);
  EXPECT_NE(answer.failure().detail.find("has 3 permits"), std::string::npos) << answer.failure().detail;
  world.release(1);
  EXPECT_EQ(world.acquire(2, {.mode = permits(1, 4)}).standing, granted);
}

TEST(MemoryStore, RefusesWhatMakesNoSense) {
  World world;
  for (const Options& options : {Options{.lease = milliseconds(0)}, Options{.lease = milliseconds(-1)},
                                 Options{.mode = permits(0, 3)}, Options{.mode = permits(4, 3)}}) {
    const auto answer = world.try_acquire(1, options);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.failure().code, Errc::invalid_argument);
  }
  EXPECT_TRUE(world.store.empty());
}

TEST(MemoryStore, WithdrawsWhatAClaimReplacesAndPutsItLast) {
  World world;
  world.acquire(1);
  world.acquire(2);
  EXPECT_EQ(world.acquire(3, {.replaces = 1}).place, 1U);
  EXPECT_EQ(world.told_granted(), Clients({2}));
  EXPECT_EQ(world.renew(1).standing, absent);
  EXPECT_EQ(world.acquire(3, {.replaces = 1}).place, 1U) << "repeated after a lost reply";
  EXPECT_EQ(world.acquire(4, {.when_busy = WhenBusy::refuse, .replaces = 3}).standing, absent);
  EXPECT_EQ(world.renew(3).standing, absent);
  EXPECT_EQ(world.acquire(5, {.replaces = 2}).standing, granted);
}

TEST(MemoryStore, ReleasesOnlyTheClaimItself) {
  World world;
  world.acquire(1);
  world.acquire(2);
  EXPECT_FALSE(world.release(3));
  EXPECT_EQ(world.renew(1).standing, granted);
  EXPECT_TRUE(world.release(2));
  EXPECT_FALSE(world.release(2));
  EXPECT_TRUE(world.release(1));
  EXPECT_EQ(world.store.counters().stale_releases, 2U);
  EXPECT_TRUE(world.store.empty());
}

TEST(MemoryStore, CountsPlacesWhenTheMiddleLeaves) {
  World world;
  for (int claim = 0; claim < 10; ++claim) world.acquire(claim);
  world.release(5);
  world.release(3);
  world.release(9);
  world.release(1);
  world.release(0);
  EXPECT_EQ(world.renew(4).place, 1U);
  EXPECT_EQ(world.renew(6).place, 2U);
  EXPECT_EQ(world.renew(7).place, 3U);
  EXPECT_EQ(world.acquire(11).place, 5U);
  EXPECT_EQ(world.renew(8).place, 4U);
}

TEST(MemoryStore, DowngradesWithoutAGap) {
  World world;
  const std::uint64_t number = world.acquire(1).number;
  world.acquire(2, {.mode = shared});
  world.acquire(3);
  EXPECT_EQ(world.downgrade(1).number, number);
  EXPECT_EQ(world.told_granted(), Clients({2}));
  EXPECT_EQ(world.downgrade(1).standing, granted) << "again";
  EXPECT_EQ(world.downgrade(3).standing, waiting);
  EXPECT_EQ(world.downgrade(9).standing, absent);
  world.release(1);
  world.release(2);
  EXPECT_EQ(world.told_granted(), Clients({3}));
  EXPECT_EQ(world.acquire(4, {.mode = shared}).standing, waiting) << "claim 3 is still exclusive";
}

TEST(MemoryStore, RefusesToDowngradePermits) {
  World world;
  world.acquire(1, {.mode = permits(1, 2)});
  const auto answer = world.store.downgrade(world.ref(1), world.now);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, Errc::invalid_argument);
}

TEST(MemoryStore, ForgetsClaimsButNeitherNumbersNorRegistersWhenItRestarts) {
  World world;
  world.acquire(1);
  world.acquire(2);
  EXPECT_TRUE(world.store.registers().add("r", 5).ok());
  world.store.lose_everything();
  EXPECT_TRUE(world.store.empty());
  EXPECT_EQ(world.renew(1).standing, absent);
  EXPECT_EQ(world.store.next_expiry(), Instant::max());
  EXPECT_EQ(world.acquire(2).number, 2U);
  EXPECT_EQ(world.store.registers().read("r").value, "5");
}

TEST(MemoryStore, LeavesNothingBehindForThousandsOfNames) {
  World world;
  for (int claim = 0; claim < 5000; ++claim) {
    world.name = LockName("name " + std::to_string(claim));
    EXPECT_EQ(world.acquire(claim).number, static_cast<std::uint64_t>(claim) + 1);
    if (claim % 2 == 0) world.release(claim);
  }
  world.now += seconds(10);
  world.store.advance(world.now);
  EXPECT_TRUE(world.store.empty());
  EXPECT_EQ(world.store.counters().expiries, 2500U);
  for (int claim = 0; claim < 5000; ++claim) {
    world.name = LockName("name " + std::to_string(claim));
    EXPECT_EQ(world.acquire(claim, {.mode = claim % 3 == 0 ? permits(1, 2) : shared}).standing, granted);
    EXPECT_TRUE(world.release(claim));
  }
}

TEST(MemoryStore, NumbersWaitersOnJoiningWhereTheStoreDoes) {
  World world({.number_on_joining = true});
  EXPECT_EQ(world.acquire(1).number, 1U);
  EXPECT_EQ(world.acquire(2).number, 2U);
  EXPECT_EQ(world.acquire(3).number, 3U);
  EXPECT_EQ(world.acquire(4, {.when_busy = WhenBusy::refuse}).number, 0U);
  world.release(2);
  world.release(1);
  EXPECT_EQ(world.renew(3).number, 3U);
  EXPECT_EQ(World().acquire(1).number, 1U);
}

// The mistakes that a store can be told to make: each must be visible, or the tests that rely on them see nothing.

/// What must be true of any history: whoever holds excludes the others, and numbers rise.
TEST(MemoryStore, KeepsItsPromisesInRandomHistories) {
  std::mt19937 random(11);
  const auto any = [&](unsigned below) { return static_cast<int>(random() % below); };
  World world;
  std::map<std::string, std::uint64_t> newest;
  for (int step = 0; step < 50000; ++step) {
    world.now += milliseconds(any(30));
    world.name = LockName(std::string(1, static_cast<char>('a' + any(3))));
    const int claim = any(12);
    const auto when_busy = any(2) == 0 ? WhenBusy::refuse : WhenBusy::wait;
    switch (any(6)) {
      case 0: world.release(claim); break;
      case 1: world.renew(claim, milliseconds(any(300))); break;
      case 2: world.acquire(claim, {.mode = shared, .lease = milliseconds(200), .when_busy = when_busy}); break;
      case 3: world.acquire(claim, {.lease = milliseconds(200), .when_busy = when_busy}); break;
      case 4: world.acquire(claim, {.lease = milliseconds(200), .replaces = any(12)}); break;
      default: any(5) == 0 ? void(world.evict()) : void(world.downgrade(claim)); break;
    }
    for (const LockStatus& lock : world.store.list("", world.now, {})) {
      std::size_t writers = 0;
      for (const ClaimStatus& holder : lock.holders) writers += holder.mode == ClaimMode::exclusive ? 1 : 0;
      ASSERT_TRUE(writers == 0 || lock.holders.size() == 1) << lock.name;
      ASSERT_TRUE(lock.waiters.empty() || !lock.holders.empty()) << "nobody waits for a free lock";
      if (writers == 1) {
        ASSERT_GE(lock.number, newest[lock.name]);
        newest[lock.name] = lock.number;
      }
    }
    for (const Event& event : world.store.take_events()) ASSERT_TRUE(event.id.high == 1);
  }
  EXPECT_GT(world.store.counters().expiries, 100U);
  EXPECT_GT(world.store.counters().takeovers, 100U);
  EXPECT_GT(world.store.counters().stale_releases, 100U);
  world.store.advance(world.now + seconds(1));
  EXPECT_TRUE(world.store.empty());
}

}  // namespace
}  // namespace holdfast::memory
