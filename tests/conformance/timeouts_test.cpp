// Waits that end.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;
using test::Background;
using test::errc_of;
using test::is_not_granted;

// M13: never before its time, and by then in any case.
TEST_P(MutexConformance, ATimedWaitGivesUpWhenItsTimeHasCome) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  const Hold hold = Mutex(holder, "taken").acquire();
  ASSERT_FALSE(mutex.try_lock());  // so that the store is known when the time is short

  const std::pair<const char*, std::function<bool()>> calls[] = {
      {"try_lock_for", [&] { return mutex.try_lock_for(200ms); }},
      {"try_lock_until, steady", [&] { return mutex.try_lock_until(steady_clock::now() + 200ms); }},
      {"try_lock_until, system", [&] { return mutex.try_lock_until(system_clock::now() + 200ms); }},
      {"try_acquire_for", [&] { return mutex.try_acquire_for(200ms).has_value(); }},
      {"try_acquire_until", [&] { return mutex.try_acquire_until(steady_clock::now() + 200ms).has_value(); }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    const auto begin = steady_clock::now();
    EXPECT_TRUE(is_not_granted(call));
    const auto took = steady_clock::now() - begin;
    EXPECT_GE(took, 195ms);  // the wall clock may be slewed meanwhile
    EXPECT_LT(took, 5s);
  }
}

TEST_P(MutexConformance, ATimedWaitIsGrantedInTime) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = Mutex(holder, "taken").acquire();
  Background waiter([&](std::stop_token stop) { return mutex.try_acquire_for(20s, stop); });
  ASSERT_TRUE(line_becomes(holder, "taken", 1));
  hold.release();
  EXPECT_TRUE(waiter.take());
}

// M14
TEST_P(MutexConformance, ATimeoutLeavesNothing) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = Mutex(holder, "taken").acquire();
  ASSERT_FALSE(mutex.try_acquire());  // so that the store is known when the time is short
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(is_not_granted([&] { return mutex.try_acquire_for(100ms); }));
  }
  EXPECT_TRUE(line_becomes(holder, "taken", 0));
  EXPECT_EQ(client.health().waiting, 0u);
  hold.release();
  EXPECT_TRUE(becomes_free(holder, "taken"));
  EXPECT_EQ(client.health().holds, 0u);
}

TEST_P(MutexConformance, ATimeoutDoesNotDisturbThoseWhoWaitOn) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = Mutex(holder, "taken").acquire();
  Background patient([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(line_becomes(holder, "taken", 1));  // so that the store has answered, however slow it is
  EXPECT_TRUE(is_not_granted([&] { return mutex.try_acquire_for(30ms); }));  // behind it, in the same client
  Background hurried([&](std::stop_token stop) { return mutex.try_acquire_for(30ms, stop); });
  EXPECT_FALSE(hurried.take());
  EXPECT_FALSE(patient.finished());
  hold.release();
  EXPECT_TRUE(patient.take().valid());
}

TEST_P(MutexConformance, TheFirstInLineMayGiveUpWithoutTakingTheOthersAlong) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  Hold hold = Mutex(holder, "taken").acquire();
  Background hurried([&](std::stop_token stop) { return mutex.try_acquire_for(300ms, stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  Background patient([&](std::stop_token stop) { return mutex.acquire(stop); });
  EXPECT_FALSE(hurried.take());
  EXPECT_FALSE(patient.finished());
  hold.release();
  EXPECT_TRUE(patient.take().valid());
}

// M15
TEST_P(MutexConformance, NoTimeIsATry) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  const auto past = steady_clock::now() - 1h;
  {
    const Hold hold = Mutex(holder, "taken").acquire();
    EXPECT_FALSE(mutex.try_lock_for(0s));
    EXPECT_FALSE(mutex.try_lock_until(past));
    EXPECT_FALSE(mutex.try_acquire_for(0s));
    EXPECT_FALSE(mutex.try_acquire_until(past));
  }
  ASSERT_TRUE(becomes_free(holder, "taken"));
  ASSERT_TRUE(mutex.try_lock_for(0s));
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock_until(past));
  mutex.unlock();
  EXPECT_TRUE(mutex.try_acquire_for(0s));
  EXPECT_TRUE(mutex.try_acquire_until(past));
  EXPECT_TRUE(mutex.try_acquire_until(steady_clock::time_point::min()));
}

// M15: the standard's calls take a negative duration as no time; ours find the mistake.
TEST_P(MutexConformance, ANegativeDurationIsATryForLocksAndAMistakeForHandles) {
  Client client = open();
  Mutex mutex(client, "free");
  ASSERT_TRUE(mutex.try_lock_for(-1ns));
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock_for(std::chrono::hours::min()));
  mutex.unlock();
  const auto error = test::error_of([&] { static_cast<void>(mutex.try_acquire_for(-1ns)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::invalid_argument);
  EXPECT_EQ(error->code(), Condition::fix_call);
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.try_acquire_for(std::chrono::hours::min())); }),
            Errc::invalid_argument);
}

TEST_P(MutexConformance, AFractionOfATickIsATimeToo) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  const Hold hold = Mutex(holder, "taken").acquire();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_not_granted([&] { return mutex.try_lock_for(std::chrono::duration<double>(0.01)); }));
  EXPECT_TRUE(is_not_granted([&] { return mutex.try_lock_for(std::chrono::duration<double>(nan)); }));
  EXPECT_TRUE(is_not_granted([&] { return mutex.try_acquire_for(std::chrono::duration<double, std::milli>(0.5)); }));
}

// M15: what does not fit into the clock is a wait without end, not one without beginning.
TEST_P(MutexConformance, AnEndlessWaitIsOneUntilItIsCancelled) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "taken");
  const Hold hold = Mutex(holder, "taken").acquire();

  using Hours = std::chrono::hours;
  using HourOf = std::chrono::time_point<steady_clock, Hours>;
  const std::pair<const char*, std::function<bool(std::stop_token)>> calls[] = {
      {"hours", [&](std::stop_token stop) { return mutex.try_lock_for(Hours::max(), stop); }},
      {"nanoseconds", [&](std::stop_token stop) { return mutex.try_lock_for(std::chrono::nanoseconds::max(), stop); }},
      {"infinity",
       [&](std::stop_token stop) {
         return mutex.try_lock_for(std::chrono::duration<double>(std::numeric_limits<double>::infinity()), stop);
       }},
      {"handle", [&](std::stop_token stop) { return mutex.try_acquire_for(Hours::max(), stop).has_value(); }},
      {"until, steady",
       [&](std::stop_token stop) { return mutex.try_lock_until(steady_clock::time_point::max(), stop); }},
      {"until, system",
       [&](std::stop_token stop) { return mutex.try_lock_until(system_clock::time_point::max(), stop); }},
      {"until, in hours", [&](std::stop_token stop) { return mutex.try_lock_until(HourOf::max(), stop); }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    Background waiter(call);
    ASSERT_TRUE(test::eventually([&] { return client.health().waiting == 1 || waiter.finished(); }));
    EXPECT_FALSE(waiter.finishes(30ms));
    waiter.cancel();
    EXPECT_EQ(waiter.error(), Errc::cancelled);
  }
}

}  // namespace
}  // namespace holdfast::conformance
