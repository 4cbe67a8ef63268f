// Several locks at once: all or none.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::errc_of;
using test::eventually;

const std::vector<LockName> abc = {"a", "b", "c"};

/// Whether nobody but `client` could have any of them now.
bool are_closed(Client& client, const std::vector<LockName>& names) {
  return std::ranges::none_of(names,
                              [&](const LockName& name) { return Mutex(client, name).try_acquire().has_value(); });
}

// ML1
TEST_P(MultiLockConformance, TakesAll) {
  Client client = open();
  Client other = open();
  MultiLock lock(client, abc);
  MultiHold hold = lock.acquire();
  EXPECT_TRUE(hold);
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_FALSE(hold.stop_token().stop_requested());
  EXPECT_TRUE(are_closed(other, abc));
  hold = MultiHold();
  for (const LockName& name : abc) EXPECT_TRUE(becomes_free(other, name));
}

// ML1, ML2
TEST_P(MultiLockConformance, TakesNoneIfOneIsBusy) {
  Client client = open();
  Client other = open();
  MultiLock lock(client, abc);
  for (const LockName& busy : abc) {
    Hold hold = Mutex(other, busy).acquire();
    EXPECT_FALSE(lock.try_acquire());
    EXPECT_FALSE(lock.try_acquire_for(0ms));
    EXPECT_FALSE(lock.try_lock());
    for (const LockName& name : abc) {
      if (name != busy) {
        EXPECT_TRUE(becomes_free(other, name)) << name.text();
      }
    }
    EXPECT_EQ(hold.release(), Released::released);
    EXPECT_TRUE(lock.try_acquire()) << "nothing is left of the attempt";
  }
}

// ML2
TEST_P(MultiLockConformance, AWaitThatEndsGivesBackWhatItHadTaken) {
  Client client = open();
  Client other = open();
  const Hold busy = Mutex(other, "b").acquire();
  MultiLock lock(client, abc);
  Background waiter([&](std::stop_token stop) { return lock.try_acquire_for(1s, stop).has_value(); });
  EXPECT_TRUE(line_becomes(other, "b", 1));
  EXPECT_FALSE(Mutex(other, "a").try_acquire()) << "the first in the order of names is taken meanwhile";
  EXPECT_EQ(waiter.take(), 0);
  for (const char* name : {"a", "c"}) EXPECT_TRUE(becomes_free(other, name));
  EXPECT_TRUE(line_becomes(other, "b", 0));
}

// ML4
TEST_P(MultiLockConformance, ThereIsOneDeadlineForAll) {
  Client client = open();
  Client other = open();
  std::vector<Hold> busy;
  for (const LockName& name : abc) busy.push_back(Mutex(other, name).acquire());
  MultiLock lock(client, abc);
  const auto begin = steady_clock::now();
  Background waiter([&](std::stop_token stop) { return lock.try_acquire_for(2s, stop).has_value(); });
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > begin + 1500ms; }));
  busy[0].release();
  EXPECT_EQ(waiter.take(), 0);
  const auto waited = steady_clock::now() - begin;
  EXPECT_GE(waited, 1900ms);
  EXPECT_LT(waited, 3300ms) << "each lock had a deadline of its own";
}

TEST_P(MultiLockConformance, WaitsUntilTheLastIsFree) {
  Client client = open();
  Client other = open();
  std::vector<Hold> busy;
  for (const LockName& name : abc) busy.push_back(Mutex(other, name).acquire());
  MultiLock lock(client, {"c", "b", "a"});
  Background waiter([&](std::stop_token stop) { return lock.acquire(stop); });
  for (const std::size_t next : {2u, 1u, 0u}) {
    EXPECT_FALSE(waiter.finished());
    busy[next].release();
  }
  const MultiHold hold = waiter.take();
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(are_closed(other, abc));
}

// ML6
TEST_P(MultiLockConformance, ANameGivenTwiceOrNoNameIsRefused) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { MultiLock(client, {"a", "b", "a"}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { MultiLock(client, std::vector<LockName>()); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { MultiLock(std::vector<MultiLock::Part>()); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { MultiLock({{client, "a"}, {client, "a"}}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { MultiLock(client, {"a"}, {.ttl = 1ms}); }), Errc::invalid_argument);
  MultiLock lock(client, abc);
  EXPECT_EQ(errc_of([&] { static_cast<void>(lock.try_acquire_for(-1ms)); }), Errc::invalid_argument);
}

// ML7
TEST_P(MultiLockConformance, TheLossOfOneIsTheLossOfAll) {
  Client client = open();
  Client other = open();
  MultiHold hold = MultiLock(client, abc, {.ttl = steady_ttl()}).acquire();
  const std::stop_token lost = hold.stop_token();
  ASSERT_TRUE(other.evict("b"));
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_EQ(hold.remaining(), 0ns);
  for (const LockName& name : abc) EXPECT_TRUE(becomes_free(other, name)) << name.text();
  EXPECT_EQ(hold.release(), std::vector<Released>(3, Released::not_held));
  EXPECT_EQ(hold.state(), HoldState::lost);
}

// ML7: nobody else's lock is touched by what is given back.
TEST_P(MultiLockConformance, ALostHoldTouchesNoSuccessor) {
  Client client = open();
  Client other = open();
  MultiHold hold = MultiLock(client, abc, {.ttl = steady_ttl()}).acquire();
  ASSERT_TRUE(other.evict("a"));
  const MultiHold next = MultiLock(other, abc).acquire();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  hold.release();
  hold = MultiHold();
  EXPECT_TRUE(next.valid());
  EXPECT_TRUE(are_closed(client, abc));
}

// ML8
TEST_P(MultiLockConformance, TokensComeInTheOrderOfTheNamesAndRise) {
  Client client = open();
  Client other = open();
  static_cast<void>(Mutex(other, "b").acquire());  // so that the numbers differ
  const std::vector<LockName> names = {"c", "a", "b"};
  std::vector<Token> last(3);
  for (int round = 0; round < 10; ++round) {
    Client& mine = round % 2 == 0 ? client : other;
    MultiHold hold = MultiLock(mine, names).acquire();
    const std::vector<Token> tokens = hold.tokens();
    ASSERT_EQ(tokens.size(), 3u);
    for (std::size_t at = 0; at < 3; ++at) {
      EXPECT_EQ(tokens[at].value() >> 8, mine.show(names[at]).value().number);
      EXPECT_GT(tokens[at], last[at]);
    }
    last = tokens;
    EXPECT_EQ(hold.release(), std::vector<Released>(3, Released::released));
    EXPECT_EQ(hold.state(), HoldState::released);
  }
}

// ML9
TEST_P(MultiLockConformance, RemainingIsTheShortestLease) {
  Client client = open();
  MultiHold hold = MultiLock(client, abc, {.ttl = 30s}).acquire();
  EXPECT_GT(hold.remaining(), 0ns);
  EXPECT_LE(hold.remaining(), 30s);
  for (const LockName& name : abc) EXPECT_LE(hold.remaining(), client.show(name).value().holders.at(0).lease_left + 1s);
  hold.release();
  EXPECT_EQ(hold.remaining(), 0ns);
}

// ML3
TEST_P(MultiLockConformance, ReleasingAnswersForEachLock) {
  Client client = open();
  MultiHold hold = MultiLock(client, abc).acquire();
  EXPECT_EQ(hold.release(), std::vector<Released>(3, Released::released));
  EXPECT_EQ(hold.release(), std::vector<Released>(3, Released::not_held));
  EXPECT_FALSE(hold.stop_token().stop_requested()) << "a release is no loss";
  EXPECT_FALSE(hold.valid());
  for (const LockName& name : abc) EXPECT_FALSE(client.show(name));
}

TEST_P(MultiLockConformance, AnEmptyHoldStandsForNothing) {
  MultiHold hold;
  EXPECT_FALSE(hold);
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(errc_of([&] { static_cast<void>(hold.tokens()); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { static_cast<void>(hold.state()); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { static_cast<void>(hold.remaining()); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { static_cast<void>(hold.stop_token()); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { hold.release(); }), Errc::not_held);
  Client client = open();
  MultiHold full = MultiLock(client, abc).acquire();
  hold = std::move(full);
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(full);  // NOLINT(bugprone-use-after-move): that is the question
}

TEST_P(MultiLockConformance, WorksWithTheStandardsLocks) {
  Client client = open();
  Client other = open();
  MultiLock lock(client, abc);
  MultiLock more(client, {"d", "e"});
  {
    const std::scoped_lock both(lock, more);
    EXPECT_TRUE(lock.hold().valid());
    EXPECT_EQ(more.hold().tokens().size(), 2u);
    EXPECT_TRUE(are_closed(other, {"a", "b", "c", "d", "e"}));
  }
  for (const LockName& name : abc) EXPECT_TRUE(becomes_free(other, name));
  std::unique_lock deferred(lock, std::defer_lock);
  EXPECT_TRUE(deferred.try_lock());
  deferred.unlock();
  EXPECT_TRUE(deferred.try_lock_for(test::patience));
  deferred.unlock();
  EXPECT_TRUE(deferred.try_lock_until(steady_clock::now() + test::patience));
  deferred.unlock();
  EXPECT_EQ(errc_of([&] { static_cast<void>(lock.hold()); }), Errc::not_held);
}

TEST_P(MultiLockConformance, AnUnlockByAStrangerChangesNothingAndIsReported) {
  test::Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  MultiLock lock(client, abc);
  lock.unlock();
  EXPECT_TRUE(errors.reaches(1));
  lock.lock();
  Background stranger([&](const std::stop_token&) { lock.unlock(); });
  EXPECT_EQ(stranger.error(), std::nullopt);
  EXPECT_TRUE(errors.reaches(2));
  EXPECT_TRUE(lock.hold().valid());
  lock.unlock();
  EXPECT_EQ(errors.all(), (std::vector{Errc::not_held, Errc::not_held}));
}

TEST_P(MultiLockConformance, LockingTwiceInOneThreadThrows) {
  Client client = open();
  MultiLock lock(client, abc);
  const std::scoped_lock first(lock);
  try {
    lock.lock();
    ADD_FAILURE() << "locked twice";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
  }
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(10ms));
  EXPECT_TRUE(lock.hold().valid());
  Background stranger([&](const std::stop_token&) { return lock.try_lock(); });
  EXPECT_FALSE(stranger.take());
}

TEST_P(MultiLockConformance, AStopEndsTheWaitAndLeavesNothing) {
  Client client = open();
  Client other = open();
  const Hold busy = Mutex(other, "b").acquire();
  MultiLock lock(client, abc);
  Background waiter([&](std::stop_token stop) { return lock.acquire(stop); });
  ASSERT_TRUE(line_becomes(other, "b", 1));
  waiter.cancel();
  EXPECT_EQ(waiter.error(), Errc::cancelled);
  for (const char* name : {"a", "c"}) EXPECT_TRUE(becomes_free(other, name));
  EXPECT_TRUE(line_becomes(other, "b", 0));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(errc_of([&] { lock.lock(stopped.get_token()); }), Errc::cancelled);
  EXPECT_EQ(errc_of([&] { static_cast<void>(lock.try_acquire_for(1s, stopped.get_token())); }), Errc::cancelled);
}

TEST_P(MultiLockConformance, ClosingEndsTheWaitAndLosesWhatIsHeld) {
  Client client = open();
  Client other = open();
  MultiLock held(client, {"x", "y"});
  const MultiHold hold = held.acquire();
  const Hold busy = Mutex(other, "b").acquire();
  MultiLock lock(client, abc);
  Background waiter([&](std::stop_token stop) { return lock.acquire(stop); });
  ASSERT_TRUE(line_becomes(other, "b", 1));
  client.close();
  EXPECT_EQ(waiter.error(), Errc::closed);
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_TRUE(hold.stop_token().stop_requested());
  for (const char* name : {"a", "c", "x", "y"}) EXPECT_TRUE(becomes_free(other, name));
  EXPECT_EQ(errc_of([&] { static_cast<void>(lock.acquire()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(lock.try_acquire()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { lock.lock(); }), Errc::closed);
}

}  // namespace
}  // namespace holdfast::conformance
