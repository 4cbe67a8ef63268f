// Waits that are called off.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "conformance/fixture.hpp"
#include "conformance/waiting_calls.hpp"
#include "support/gate.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;

// M16
TEST_P(MutexConformance, AStopEndsEveryWait) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  const Hold hold = Mutex(holder, "taken").acquire();
  for (const auto& [name, call] : waiting_calls) {
    SCOPED_TRACE(name);
    Background waiter([&](std::stop_token stop) { call(mutex, stop); });
    ASSERT_TRUE(line_becomes(holder, "taken", 1));
    waiter.cancel();
    EXPECT_EQ(waiter.error(), Errc::cancelled);
    EXPECT_TRUE(line_becomes(holder, "taken", 0));
    EXPECT_EQ(client.health().waiting, 0u);
  }
  EXPECT_TRUE(hold.valid());
}

// M16, in the line inside a client
TEST_P(MutexConformance, AStopEndsAWaitBehindAnotherThread) {
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = mutex.acquire();
  for (const auto& [name, call] : waiting_calls) {
    SCOPED_TRACE(name);
    Background waiter([&](std::stop_token stop) { call(mutex, stop); });
    ASSERT_TRUE(waiting_becomes(client, 1));
    waiter.cancel();
    EXPECT_EQ(waiter.error(), Errc::cancelled);
    EXPECT_TRUE(waiting_becomes(client, 0));
  }
  EXPECT_EQ(hold.release(), Released::released);
}

// M17: nothing happens at all, though the lock is free.
TEST_P(MutexConformance, AStopBeforehandTouchesNothing) {
  Client client = open();
  Mutex mutex(client, "free");
  std::stop_source stop;
  stop.request_stop();
  for (const auto& [name, call] : waiting_calls) {
    SCOPED_TRACE(name);
    EXPECT_EQ(errc_of([&] { call(mutex, stop.get_token()); }), Errc::cancelled);
  }
  EXPECT_EQ(client.health().contact, Health::Contact::never);
  EXPECT_EQ(client.health().grants, 0u);
}

// M18
TEST_P(MutexConformance, CanBeTakenAfterACancelledWait) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = Mutex(holder, "taken").acquire();
  {
    Background waiter([&](std::stop_token stop) { return mutex.acquire(stop); });
    ASSERT_TRUE(line_becomes(holder, "taken", 1));
    waiter.cancel();
    ASSERT_EQ(waiter.error(), Errc::cancelled);
  }
  Background again([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(line_becomes(holder, "taken", 1));
  hold.release();
  EXPECT_TRUE(again.take().valid());
}

TEST_P(MutexConformance, AStopAfterTheGrantChangesNothing) {
  Client client = open();
  Mutex mutex(client, "mine");
  std::stop_source stop;
  mutex.lock(stop.get_token());
  const Hold other = Mutex(client, "other").acquire(stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(mutex.hold().valid());
  EXPECT_TRUE(other.valid());
  EXPECT_FALSE(mutex.hold().stop_token().stop_requested());
  mutex.unlock();
}

TEST_P(MutexConformance, AStopEndsOnlyTheWaitItWasGivenTo) {
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = mutex.acquire();
  Background first([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  Background second([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 2));
  first.cancel();
  EXPECT_EQ(first.error(), Errc::cancelled);
  EXPECT_FALSE(second.finished());
  hold.release();
  EXPECT_TRUE(second.take().valid());
}

/// Cancels a wait at about the moment at which it is granted, again and again: the call ends with a hold or with
/// `cancelled`, and a cancelled one leaves nothing behind that would keep the next round waiting.
void race_cancels_against_grants(Client& holder, Client& client) {
  test::Rounds rounds(2000);
  Mutex mutex(holder, "raced");
  Mutex contended(client, "raced");
  std::stop_source stop;
  test::Gate begin;
  test::Gate end;
  int granted = 0;
  int cancelled = 0;
  bool over = false;

  std::jthread waiter([&] {
    while (begin.pass() && !over) {
      const auto error = errc_of([&] {
        const Hold hold = contended.acquire(stop.get_token());
        EXPECT_TRUE(hold.valid());
        ++granted;
      });
      if (error) {
        EXPECT_EQ(error, Errc::cancelled);
        ++cancelled;
      }
      end.open();
    }
  });

  // A hand-off takes about as long as a lock and its release; much longer where it is asked for again and again.
  mutex.acquire().release();  // so that there is a connection
  const auto began = std::chrono::steady_clock::now();
  mutex.acquire().release();
  const auto hand_off = std::chrono::ceil<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
  std::minstd_rand random(4711);
  std::uniform_real_distribution<double> doublings(-4, 5);
  const auto pause = [&] {
    const auto length = std::exp2(doublings(random)) * hand_off;
    if (length > 1ms) return std::this_thread::sleep_for(length);
    const auto until = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  };
  // Luck may take its time: without both outcomes the case shows nothing.
  const auto has_both = [&] { return granted > 0 && cancelled > 0; };
  int played = 0;
  while (rounds.next() || (!has_both() && played < 2000)) {
    ++played;
    Hold hold = mutex.acquire();
    stop = std::stop_source();
    begin.open();
    pause();
    if (random() % 2 == 0) {
      stop.request_stop();
      pause();
      hold = {};
    } else {
      hold = {};
      pause();
      stop.request_stop();
    }
    ASSERT_TRUE(end.pass()) << "round " << played << " does not end";
  }
  over = true;
  begin.open();
  waiter.join();
  EXPECT_EQ(granted + cancelled, played);
  EXPECT_GT(granted, 0);
  EXPECT_GT(cancelled, 0);
  EXPECT_TRUE(test::eventually([&] { return !holder.show("raced").has_value(); }));
  EXPECT_EQ(client.health().holds, 0u);
  EXPECT_EQ(client.health().waiting, 0u);
}

// M19
TEST_P(MutexConformance, ACancelAtTheMomentOfTheGrantLeaksNothingBetweenClients) {
  Client holder = open();
  Client client = open();
  race_cancels_against_grants(holder, client);
}

// M19
TEST_P(MutexConformance, ACancelAtTheMomentOfTheGrantLeaksNothingInsideAClient) {
  Client client = open();
  race_cancels_against_grants(client, client);
}

}  // namespace
}  // namespace holdfast::conformance
