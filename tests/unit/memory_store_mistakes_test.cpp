#include <gtest/gtest.h>

#include "unit/memory_store_world.hpp"

namespace holdfast::memory {
namespace {

TEST(MemoryStoreMistakes, RenewalRecreates) {
  for (const bool mistake : {false, true}) {
    World world({.renewal_recreates = mistake});
    world.acquire(1);
    world.now += seconds(10);
    EXPECT_EQ(world.renew(1).standing, mistake ? granted : absent);
    EXPECT_EQ(world.store.empty(), !mistake);
  }
}

TEST(MemoryStoreMistakes, ReleaseByName) {
  for (const bool mistake : {false, true}) {
    World world({.release_by_name = mistake});
    world.acquire(1);
    world.now += seconds(10);
    world.acquire(2);
    EXPECT_EQ(world.release(1), mistake);
    EXPECT_EQ(world.renew(2).standing, mistake ? absent : granted);
  }
}

TEST(MemoryStoreMistakes, ReuseNumberAfterExpiry) {
  for (const bool mistake : {false, true}) {
    World world({.reuse_number_after_expiry = mistake});
    world.acquire(1);
    world.acquire(2, {.lease = seconds(15)});
    world.now += seconds(10);
    EXPECT_EQ(world.renew(2).number, mistake ? 1U : 2U);
    world.now += seconds(15);
    EXPECT_EQ(world.acquire(3).number, mistake ? 1U : 3U);
  }
}

TEST(MemoryStoreMistakes, HandOffExtendsLease) {
  for (const bool mistake : {false, true}) {
    World world({.hand_off_extends_lease = mistake});
    world.acquire(1);
    world.acquire(2);
    world.now += seconds(9);
    world.release(1);
    EXPECT_EQ(world.store.next_expiry(), world.now + (mistake ? seconds(10) : seconds(1)));
  }
}

}  // namespace
}  // namespace holdfast::memory
