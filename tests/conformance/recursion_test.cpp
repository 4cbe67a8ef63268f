// Locking what one already holds.

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;

// RM1, RM2
TEST_P(RecursiveMutexConformance, IsFreeAfterAsManyUnlocksAsLocks) {
  Client client = open();
  Client other = open();
  RecursiveMutex mutex(client, "nested");
  Mutex others(other, "nested");
  EXPECT_EQ(mutex.depth(), 0u);
  mutex.lock();
  EXPECT_EQ(mutex.depth(), 1u);
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_EQ(mutex.depth(), 2u);
  ASSERT_TRUE(mutex.try_lock_for(0s));
  EXPECT_EQ(mutex.depth(), 3u);
  ASSERT_TRUE(mutex.try_lock_until(std::chrono::steady_clock::now() - 1s));
  EXPECT_EQ(mutex.depth(), 4u);
  for (std::size_t depth = 4; depth > 0; --depth) {
    EXPECT_EQ(mutex.depth(), depth);
    EXPECT_FALSE(others.try_acquire()) << "at depth " << depth;
    mutex.unlock();
  }
  EXPECT_EQ(mutex.depth(), 0u);
  EXPECT_TRUE(eventually([&] { return others.try_acquire().has_value(); }));
}

// RM1: it is counted by thread and name, so the objects nest in each other.
TEST_P(RecursiveMutexConformance, ObjectsOfOneNameNestInEachOther) {
  Client client = open();
  RecursiveMutex outer(client, "nested");
  RecursiveMutex inner(client, "nested");
  const std::scoped_lock lock(outer);
  {
    const std::scoped_lock again(inner);
    EXPECT_EQ(outer.depth(), 2u);
    EXPECT_EQ(inner.depth(), 2u);
    EXPECT_EQ(inner.hold().token(), outer.hold().token());
  }
  EXPECT_EQ(inner.depth(), 1u);
  EXPECT_TRUE(outer.hold().valid());
}

// RM1: names are counted apart.
TEST_P(RecursiveMutexConformance, EachNameHasADepthOfItsOwn) {
  Client client = open();
  RecursiveMutex one(client, "one");
  RecursiveMutex two(client, "two");
  const std::scoped_lock both(one, two);
  const std::scoped_lock again(one);
  EXPECT_EQ(one.depth(), 2u);
  EXPECT_EQ(two.depth(), 1u);
}

// RM3
TEST_P(RecursiveMutexConformance, ExcludesTheOtherThreadsOfTheClient) {
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  mutex.lock();
  mutex.lock();
  std::jthread([&] {
    EXPECT_EQ(mutex.depth(), 0u);
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_for(20ms));
    EXPECT_EQ(errc_of([&] { mutex.hold(); }), Errc::not_held);
  }).join();
  mutex.unlock();
  std::jthread([&] { EXPECT_FALSE(mutex.try_lock()); }).join();
  mutex.unlock();
  std::jthread([&] {
    EXPECT_TRUE(mutex.try_lock());
    EXPECT_EQ(mutex.depth(), 1u);
    mutex.unlock();
  }).join();
}

// RM4
TEST_P(RecursiveMutexConformance, ExcludesOtherClientsAtEveryDepth) {
  Client client = open();
  Client other = open();
  RecursiveMutex mutex(client, "nested");
  RecursiveMutex others(other, "nested");
  for (int depth = 1; depth <= 3; ++depth) {
    mutex.lock();
    std::jthread([&] { EXPECT_FALSE(others.try_lock()); }).join();
    EXPECT_FALSE(others.try_lock());
  }
  for (int depth = 3; depth >= 1; --depth) {
    EXPECT_FALSE(others.try_lock());
    mutex.unlock();
  }
  ASSERT_TRUE(others.try_lock_for(test::patience));
  others.unlock();
}

// RM5: one grant, one token, no round trip.
TEST_P(RecursiveMutexConformance, LockingAgainMintsNoToken) {
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  mutex.lock();
  const Token token = mutex.hold().token();
  const auto grants = client.health().grants;
  for (int depth = 0; depth < 100; ++depth) mutex.lock();
  EXPECT_EQ(mutex.hold().token(), token);
  EXPECT_EQ(client.health().grants, grants);
  EXPECT_EQ(client.health().holds, 1u);
  for (int depth = 0; depth < 101; ++depth) mutex.unlock();
  mutex.lock();
  EXPECT_GT(mutex.hold().token(), token);
  mutex.unlock();
}

// RM6
TEST_P(RecursiveMutexConformance, LockingAgainNeverShortensTheLease) {
  Client client = open();
  RecursiveMutex lasting(client, "nested", {.ttl = 100s});
  RecursiveMutex brief(client, "nested", {.ttl = 2s});
  lasting.lock();
  brief.lock();
  EXPECT_GT(brief.hold().remaining(), 80s);
  EXPECT_GT(lasting.hold().remaining(), 80s);
  EXPECT_GT(client.show("nested").value().holders.at(0).lease_left, 80s);
  brief.unlock();
  lasting.unlock();
}

// RM6
TEST_P(FixedLeaseConformance, LockingAgainDoesNotTouchTheLease) {
  Client client = open();
  RecursiveMutex mutex(client, "nested", {.ttl = short_ttl(), .lease = LeaseKind::fixed});
  mutex.lock();
  const auto before = mutex.hold().remaining();
  mutex.lock();
  EXPECT_LE(mutex.hold().remaining(), before);
  EXPECT_TRUE(eventually([&] { return mutex.hold().state() == HoldState::lost; }));
  mutex.unlock();
  mutex.unlock();
}

// RM7
TEST_P(RecursiveMutexConformance, LockingTooDeepIsAnErrorAndNoWait) {
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  for (std::size_t depth = 0; depth < RecursiveMutex::max_depth; ++depth) mutex.lock();
  EXPECT_EQ(mutex.depth(), RecursiveMutex::max_depth);
  EXPECT_EQ(errc_of([&] { mutex.lock(); }), Errc::too_deep);
  EXPECT_EQ(errc_of([&] { mutex.try_lock_for(1h); }), Errc::too_deep);
  EXPECT_EQ(mutex.depth(), RecursiveMutex::max_depth);
  EXPECT_TRUE(mutex.hold().valid());
  for (std::size_t depth = 0; depth < RecursiveMutex::max_depth; ++depth) mutex.unlock();
  EXPECT_EQ(mutex.depth(), 0u);
}

// RM8
TEST_P(RecursiveMutexConformance, ALossIsOneOfAllLevels) {
  Client client = open();
  Client other = open();
  RecursiveMutex outer(client, "nested", {.ttl = steady_ttl()});
  RecursiveMutex inner(client, "nested", {.ttl = steady_ttl()});
  outer.lock();
  inner.lock();
  outer.lock();
  const Token token = outer.hold().token();
  ASSERT_TRUE(other.evict("nested"));
  ASSERT_TRUE(eventually([&] { return outer.hold().state() == HoldState::lost; }));
  EXPECT_FALSE(inner.hold().valid());
  EXPECT_EQ(errc_of([&] { outer.lock(); }), Errc::lost);
  EXPECT_EQ(outer.depth(), 3u);

  const auto next = Mutex(other, "nested").try_acquire_for(test::patience);
  ASSERT_TRUE(next);
  outer.unlock();
  inner.unlock();
  EXPECT_EQ(errc_of([&] { outer.lock(); }), Errc::lost);
  outer.unlock();
  EXPECT_EQ(outer.depth(), 0u);
  EXPECT_TRUE(next->valid());
  EXPECT_FALSE(outer.try_lock());
  EXPECT_GT(next->token(), token);
}

// RM9
TEST_P(RecursiveMutexConformance, AnUnlockByAStrangerChangesNoDepth) {
  test::Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  RecursiveMutex mutex(client, "nested");
  mutex.lock();
  mutex.lock();
  std::jthread([&] { mutex.unlock(); }).join();
  EXPECT_TRUE(errors.reaches(1));
  EXPECT_EQ(errors.all(), std::vector{Errc::not_held});
  EXPECT_EQ(mutex.depth(), 2u);
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
  mutex.unlock();
  client.close();
}

// RM10
TEST_P(RecursiveMutexConformance, AStopWhileLockingAgainKeepsTheOuterLock) {
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  mutex.lock();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(errc_of([&] { mutex.lock(stop.get_token()); }), Errc::cancelled);
  EXPECT_EQ(errc_of([&] { mutex.try_lock_for(1h, stop.get_token()); }), Errc::cancelled);
  EXPECT_EQ(mutex.depth(), 1u);
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
}

// RM10: and a stop that ends the wait for the outermost one leaves nothing.
TEST_P(RecursiveMutexConformance, AStopEndsTheOutermostWait) {
  Client holder = open();
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  Hold hold = Mutex(holder, "nested").acquire();
  Background waiter([&](std::stop_token stop) { mutex.lock(stop); });
  ASSERT_TRUE(line_becomes(holder, "nested", 1));
  waiter.cancel();
  EXPECT_EQ(waiter.error(), Errc::cancelled);
  EXPECT_TRUE(line_becomes(holder, "nested", 0));
  hold.release();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// Recursion is by thread: a thread that holds it by handle waits like anybody else.
TEST_P(RecursiveMutexConformance, DoesNotNestInAHandle) {
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  const Hold hold = Mutex(client, "nested").acquire();
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_for(20ms));
  EXPECT_EQ(mutex.depth(), 0u);
}

TEST_P(RecursiveMutexConformance, CountsThreadsUnderIt) {
  Client client = open();
  int counter = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&] {
        RecursiveMutex mutex(client, "nested");
        for (int round = 0; round < 100; ++round) {
          const std::scoped_lock outer(mutex);
          const std::scoped_lock inner(mutex);
          ++counter;
        }
      });
    }
  }
  EXPECT_EQ(counter, 800);
}

}  // namespace
}  // namespace holdfast::conformance
