// After an unclean end the name stays closed for a while.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "conformance/fixture.hpp"
#include "support/peer.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::errc_of;
using test::eventually;
using test::is_not_granted;
using test::ProcessPeer;

constexpr milliseconds delay = 1s;
/// Longer than any case lasts.
constexpr milliseconds endless = 1h;

/// How long it takes from `begin` until `client` gets the lock.
milliseconds time_until_free(Client& client, steady_clock::time_point begin) {
  const auto hold = Mutex(client, "mine").try_acquire_for(test::patience);
  EXPECT_TRUE(hold) << "it stays closed";
  return std::chrono::floor<milliseconds>(steady_clock::now() - begin);
}

/// A lease that ends by itself.
LockOptions ending(milliseconds ttl, milliseconds lock_delay) {
  return {.ttl = ttl, .lease = LeaseKind::fixed, .lock_delay = lock_delay};
}

TEST_P(LockDelayConformance, ALeaseThatEndsKeepsTheNameClosedToEverybody) {
  Client client = open();
  Client other = open();
  const auto begin = steady_clock::now();
  const Hold hold = Mutex(client, "mine", ending(short_ttl(), delay)).acquire();
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  Background ours([&](std::stop_token) { return time_until_free(client, begin); });
  EXPECT_GE(time_until_free(other, begin), short_ttl() + delay);
  EXPECT_GE(ours.take(), short_ttl() + delay);
}

// The control: the same without the option.
TEST_P(LockDelayConformance, WithoutTheOptionTheNameIsFreeWhenTheLeaseEnds) {
  Client client = open();
  Client other = open();
  const Hold hold = Mutex(client, "mine", ending(short_ttl(), 0ms)).acquire();
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  const Hold next = Mutex(other, "mine").acquire();
  EXPECT_GT(next.token(), hold.token());
  EXPECT_TRUE(next.valid());
}

TEST_P(LockDelayConformance, ATryIsRefusedWhileTheNameIsClosed) {
  Client client = open();
  Client other = open();
  const Hold hold = Mutex(client, "mine", ending(short_ttl(), endless)).acquire();
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  for (Client* somebody : {&client, &other}) {
    EXPECT_FALSE(Mutex(*somebody, "mine").try_acquire());
    EXPECT_TRUE(is_not_granted([&] { return Mutex(*somebody, "mine").try_acquire_for(500ms); }));
    EXPECT_FALSE(SharedMutex(*somebody, "mine").try_acquire());
    EXPECT_TRUE(Mutex(*somebody, "other").try_acquire()) << "another name is another matter";
  }
}

TEST_P(LockDelayConformance, AReleaseOpensItAtOnce) {
  Client client = open();
  Client other = open();
  for (int round = 0; round < 3; ++round) {
    Hold hold = Mutex(client, "mine", {.lock_delay = endless}).acquire();
    EXPECT_FALSE(Mutex(other, "mine").try_acquire());
    EXPECT_EQ(hold.release(), Released::released);
    EXPECT_TRUE(Mutex(other, "mine").try_acquire());
  }
  static_cast<void>(Mutex(client, "mine", {.lock_delay = endless}).acquire());  // released by its destructor
  EXPECT_TRUE(Mutex(other, "mine").try_acquire_for(test::patience));
}

TEST_P(LockDelayConformance, AnEvictionOpensItAtOnce) {
  Client client = open();
  Client operator_ = open();
  const Hold hold = Mutex(client, "mine", {.lock_delay = endless}).acquire();
  EXPECT_TRUE(operator_.evict("mine"));
  EXPECT_TRUE(Mutex(operator_, "mine").try_acquire());
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
}

TEST_P(LockDelayConformance, AnEvictionOpensWhatIsClosed) {
  Client client = open();
  Client operator_ = open();
  const Hold hold = Mutex(client, "mine", ending(short_ttl(), endless)).acquire();
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_FALSE(Mutex(operator_, "mine").try_acquire());
  const auto is_open = [&] {
    operator_.evict("mine");
    return Mutex(operator_, "mine").try_acquire().has_value();
  };
  EXPECT_TRUE(eventually(is_open));
}

TEST_P(LockDelayConformance, ItIsHandedOverInsideItsClientAtOnce) {
  Client client = open();
  Mutex mutex(client, "mine", {.lock_delay = endless});
  Hold hold = mutex.acquire();
  Background next([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  hold.release();
  EXPECT_TRUE(next.take().valid());
}

TEST_P(LockDelayConformance, WhatWasHeldForTooLongStaysClosed) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine", {.ttl = steady_ttl(), .max_hold = 300ms, .lock_delay = delay});
  const auto begin = steady_clock::now();
  const Hold hold = mutex.acquire();
  Background ours([&](std::stop_token) { return time_until_free(client, begin); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_GE(time_until_free(other, begin), 300ms + delay);
  EXPECT_GE(ours.take(), 300ms + delay);
}

// The holder sees the end before anybody told it, and gives back what it does not have any more.
TEST_P(LockDelayConformance, AReleaseThatComesTooLateDoesNotOpenIt) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine", {.ttl = 20s, .max_hold = 300ms, .lock_delay = endless}).acquire();
  while (hold.valid()) std::this_thread::yield();
  EXPECT_EQ(hold.release(), Released::not_held);
  EXPECT_TRUE(is_not_granted([&] { return Mutex(client, "mine").try_acquire_for(300ms); }));
  EXPECT_FALSE(Mutex(other, "mine").try_acquire());
  hold = {};
  EXPECT_FALSE(Mutex(other, "mine").try_acquire());
}

TEST_P(LockDelayConformance, AClientThatIsClosedWithoutReleasingKeepsItClosed) {
  Client other = open();
  auto client = std::make_unique<Client>(url());
  const Hold hold = Mutex(*client, "mine", {.ttl = steady_ttl(), .lock_delay = delay}).acquire();
  const auto begin = steady_clock::now();
  client.reset();
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_FALSE(Mutex(other, "mine").try_acquire());
  EXPECT_GE(time_until_free(other, begin), delay);
}

TEST_P(LockDelayConformance, AClientThatIsClosedAfterReleasingDoesNot) {
  Client other = open();
  Client client = open();
  Hold hold = Mutex(client, "mine", {.lock_delay = endless}).acquire();
  EXPECT_EQ(hold.release(), Released::released);
  client.close();
  EXPECT_TRUE(Mutex(other, "mine").try_acquire());
}

TEST_P(LockDelayConformance, AWaiterThatGivesUpClosesNothing) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine").acquire();
  {
    Client waiting = open();
    Background waiter(
        [&](std::stop_token stop) { return Mutex(waiting, "mine", {.lock_delay = endless}).acquire(stop); });
    ASSERT_TRUE(line_becomes(client, "mine", 1));
    waiting.close();
    EXPECT_EQ(waiter.error(), Errc::closed);
  }
  EXPECT_EQ(hold.release(), Released::released);
  EXPECT_TRUE(Mutex(other, "mine").try_acquire_for(test::patience));
}

TEST_P(LockDelayConformance, AReaderWhoseLeaseEndsKeepsNoReadersOut) {
  Client client = open();
  Client other = open();
  const Hold dying = SharedMutex(client, "mine", ending(short_ttl(), delay)).acquire_shared();
  const Hold living = SharedMutex(other, "mine").acquire_shared();
  ASSERT_TRUE(eventually([&] { return dying.state() == HoldState::lost; }));
  EXPECT_TRUE(living.valid());
  EXPECT_TRUE(SharedMutex(client, "mine").try_acquire_shared()) << "readers do not harm each other";
}

TEST_P(LockDelayConformance, AReaderWhoseLeaseEndsKeepsWritersOutForTheDelay) {
  Client client = open();
  Client other = open();
  const auto begin = steady_clock::now();
  const Hold dying = SharedMutex(client, "mine", ending(short_ttl(), delay)).acquire_shared();
  EXPECT_GE(time_until_free(other, begin), short_ttl() + delay);
}

// Readers share a claim; one of them may end badly, and another one well and later.
TEST_P(LockDelayConformance, AReaderThatHeldItForTooLongKeepsWritersOutThoughAnotherOneReleases) {
  Client client = open();
  Client other = open();
  Hold good = SharedMutex(client, "mine", {.lock_delay = endless}).acquire_shared();
  const Hold bad = SharedMutex(client, "mine", {.max_hold = 200ms, .lock_delay = endless}).acquire_shared();
  ASSERT_TRUE(eventually([&] { return bad.stop_token().stop_requested(); }));
  EXPECT_EQ(good.release(), Released::released);
  EXPECT_TRUE(is_not_granted([&] { return Mutex(other, "mine").try_acquire_for(300ms); }));
}

TEST_P(LockDelayConformance, PermitsWhoseLeaseEndsStayOutForTheDelay) {
  Client client = open();
  Client other = open();
  const auto begin = steady_clock::now();
  const Hold dying = Semaphore(client, "pool", 3, ending(short_ttl(), delay)).acquire(2);
  ASSERT_TRUE(eventually([&] { return dying.state() == HoldState::lost; }));
  EXPECT_TRUE(Semaphore(other, "pool", 3).try_acquire(1)) << "the others are not concerned";
  EXPECT_TRUE(Semaphore(other, "pool", 3).try_acquire_for(test::patience, 3));
  EXPECT_GE(steady_clock::now() - begin, short_ttl() + delay);
}

TEST_P(ClientConformance, ImpossibleLockDelaysAreRefused) {
  Client client = open();
  for (const milliseconds bad : {milliseconds(-1), LockOptions::max_ttl + 1ms}) {
    EXPECT_EQ(errc_of([&] { Mutex(client, "mine", {.lock_delay = bad}); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { SharedMutex(client, "mine", {.lock_delay = bad}); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { RecursiveMutex(client, "mine", {.lock_delay = bad}); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { Semaphore(client, "mine", 3, {.lock_delay = bad}); }), Errc::invalid_argument);
  }
}

TEST_P(ProcessLockDelayConformance, AKilledHolderKeepsTheNameClosedForItsLockDelay) {
  Client client = open();
  ProcessPeer dying(url());
  const std::string ttl = std::to_string(short_ttl().count());
  ASSERT_TRUE(dying.ask("acquire mine " + ttl + " 20000 " + std::to_string(delay.count())).starts_with("granted"));
  const auto begin = steady_clock::now();
  dying.kill();
  EXPECT_GE(time_until_free(client, begin), delay);
}

// The control: the same without the option.
TEST_P(SharedStoreConformance, AKilledHolderWithoutALockDelayIsReplacedAtTheEndOfItsLease) {
  Client client = open();
  ProcessPeer dying(url());
  const std::string ttl = std::to_string(short_ttl().count());
  ASSERT_TRUE(dying.ask("acquire mine " + ttl + " 20000").starts_with("granted"));
  dying.kill();
  EXPECT_TRUE(Mutex(client, "mine").try_acquire_for(test::patience));
}

TEST_P(ProcessLockDelayConformance, AHolderThatWasStoppedKeepsTheNameClosedAndDoesNotOpenItLater) {
  Client client = open();
  ProcessPeer stopped(url());
  const std::string ttl = std::to_string(short_ttl().count());
  ASSERT_TRUE(stopped.ask("acquire mine " + ttl + " 20000 " + std::to_string(endless.count())).starts_with("granted"));
  stopped.pause();
  const auto begin = steady_clock::now();
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > begin + 4 * short_ttl(); }));
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
  stopped.resume();
  EXPECT_EQ(stopped.ask("valid mine"), "no");
  EXPECT_EQ(stopped.ask("release mine"), "not_held");
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
}

// What a store answers that cannot do it.
TEST_P(NoLockDelayConformance, IsRefusedWithTheReason) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { static_cast<void>(Mutex(client, "mine", {.lock_delay = 1s}).acquire()); }),
            Errc::unsupported);
  EXPECT_TRUE(Mutex(client, "mine").try_acquire());
}

}  // namespace
}  // namespace holdfast::conformance
