// One lock, one holder.

#include <gtest/gtest.h>

#include <regex>
#include <thread>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::errc_of;
using test::eventually;

// M01
TEST_P(MutexConformance, GrantsWhenFree) {
  Client client = open();
  Mutex mutex(client, "free");
  const Hold hold = mutex.acquire();
  EXPECT_TRUE(hold);
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(hold.name(), LockName("free"));
}

// M01
TEST_P(MutexConformance, EveryWayToAskIsGrantedWhenFree) {
  Client client = open();
  Mutex mutex(client, "free");
  mutex.lock();
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock_for(10s));
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock_until(std::chrono::steady_clock::now() + 10s));
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock_until(std::chrono::system_clock::now() + 10s));
  mutex.unlock();
  EXPECT_TRUE(mutex.try_acquire().value().valid());
  EXPECT_TRUE(mutex.try_acquire_for(10s).value().valid());
  EXPECT_TRUE(mutex.try_acquire_until(std::chrono::steady_clock::now() + 10s).value().valid());
}

// M02
TEST_P(MutexConformance, RefusesASecondHandleOfTheSameClient) {
  Client client = open();
  Mutex first(client, "taken");
  Mutex second(client, "taken");
  const Hold hold = first.acquire();
  EXPECT_FALSE(first.try_acquire());
  EXPECT_FALSE(second.try_acquire());
  EXPECT_FALSE(second.try_lock());
  EXPECT_TRUE(hold.valid());
}

// M02
TEST_P(MutexConformance, RefusesAnotherClient) {
  Client mine = open();
  Client other = open();
  Mutex mutex(mine, "taken");
  Mutex others(other, "taken");
  const Hold hold = mutex.acquire();
  EXPECT_FALSE(others.try_acquire());
  EXPECT_FALSE(others.try_lock());
  EXPECT_FALSE(others.try_lock_for(200ms));
  EXPECT_TRUE(hold.valid());
}

// M03
TEST_P(MutexConformance, OtherNamesAreIndependent) {
  Client client = open();
  Client other = open();
  const Hold hold = Mutex(client, "one").acquire();
  EXPECT_TRUE(Mutex(client, "two").try_acquire());
  EXPECT_TRUE(Mutex(other, "three").try_acquire());
}

// M04: what the client has just given back it can have again at once, whether or not the store has answered yet.
TEST_P(MutexConformance, CanBeTakenAgainAndAgain) {
  Client client = open();
  Mutex mutex(client, "again");
  for (test::Rounds rounds(500); rounds.next();) {
    ASSERT_TRUE(mutex.try_lock()) << "round " << rounds.done();
    mutex.unlock();
    ASSERT_TRUE(mutex.try_acquire()) << "round " << rounds.done();
  }
}

TEST_P(MutexConformance, AConfirmedReleaseIsSeenByAnotherClientAtOnce) {
  Client mine = open();
  Client other = open();
  Mutex mutex(mine, "handed-over");
  Mutex others(other, "handed-over");
  for (test::Rounds rounds(100); rounds.next();) {
    Hold hold = mutex.acquire();
    ASSERT_EQ(hold.release(), Released::released);
    auto next = others.try_acquire();
    ASSERT_TRUE(next) << "round " << rounds.done();
    ASSERT_EQ(next->release(), Released::released);
  }
}

TEST_P(MutexConformance, AnUnlockIsSeenByAnotherClientSoon) {
  Client mine = open();
  Client other = open();
  Mutex mutex(mine, "handed-over");
  Mutex others(other, "handed-over");
  mutex.lock();
  mutex.unlock();
  EXPECT_TRUE(eventually([&] { return others.try_acquire().has_value(); }));
}

TEST_P(MutexConformance, ObjectsOfOneClientAndNameAreTheSameLock) {
  Client client = open();
  Mutex one(client, "shared");
  Mutex two(client, "shared");
  one.lock();
  EXPECT_EQ(two.hold().token(), one.hold().token());
  two.unlock();
  EXPECT_TRUE(one.try_acquire());
}

// M52, as far as there are other primitives: a recursive mutex is a mutex.
TEST_P(MutexConformance, AMutexAndARecursiveMutexOfOneNameAreTheSameLock) {
  Client client = open();
  Client other = open();
  Mutex plain(client, "shared");
  RecursiveMutex recursive(other, "shared");
  Hold hold = plain.acquire();
  EXPECT_FALSE(recursive.try_lock());
  ASSERT_EQ(hold.release(), Released::released);
  ASSERT_TRUE(recursive.try_lock());
  EXPECT_FALSE(plain.try_acquire());
  recursive.unlock();
}

TEST_P(MutexConformance, AHoldOutlivesTheMutexItCameFrom) {
  Client client = open();
  const Hold hold = Mutex(client, "taken").acquire();
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(Mutex(client, "taken").try_acquire());
}

TEST_P(MutexConformance, OnlyTheLockingThreadHasTheHold) {
  Client client = open();
  Mutex mutex(client, "mine");
  EXPECT_EQ(errc_of([&] { mutex.hold(); }), Errc::not_held);
  mutex.lock();
  EXPECT_EQ(mutex.hold().state(), HoldState::held);
  std::jthread([&] { EXPECT_EQ(errc_of([&] { mutex.hold(); }), Errc::not_held); }).join();
  mutex.unlock();
  EXPECT_EQ(errc_of([&] { mutex.hold(); }), Errc::not_held);
}

TEST_P(ClientConformance, TraitsSayWhatTheFixtureSays) {
  const Client client = open();
  const StoreTraits traits = client.traits();
  EXPECT_FALSE(traits.store.empty());
  EXPECT_EQ(traits.shared_between_processes, can().separate_processes);
  EXPECT_EQ(traits.fifo, can().fifo);
  EXPECT_EQ(traits.durable_tokens, can().keeps_tokens);
  EXPECT_EQ(traits.min_ttl, can().min_ttl);
  EXPECT_EQ(traits.proves_lease_late, can().proves_lease_late);
  EXPECT_EQ(traits.fixed_leases, can().fixed_leases);
  EXPECT_EQ(traits.shared, can().shared);
  EXPECT_EQ(traits.permits, can().permits);
  EXPECT_EQ(traits.registers, can().registers);
  EXPECT_EQ(traits.lock_delay, can().lock_delay);
  EXPECT_EQ(traits.lists, can().lists);
  EXPECT_EQ(traits.release_requests, can().release_requests);
}

TEST_P(ClientConformance, HasAnIdentityOfItsOwn) {
  const Client client = open({.label = "billing"});
  const Client other = open();
  const ClientIdentity& identity = client.identity();
  EXPECT_TRUE(std::regex_match(identity.id, std::regex("[0-9a-f]{32}"))) << identity.id;
  EXPECT_NE(identity.id, other.identity().id);
  EXPECT_FALSE(identity.host.empty());
  EXPECT_EQ(identity.pid, getpid());
  EXPECT_FALSE(identity.command.empty());
  EXPECT_EQ(identity.label, "billing");
}

TEST_P(ClientConformance, OpeningContactsNobody) {
  const Client client = open();
  EXPECT_EQ(client.health().contact, Health::Contact::never);
  EXPECT_EQ(client.health().since_contact, 0ns);
}

TEST_P(ClientConformance, AMovedClientKeepsItsLocks) {
  Client client = open();
  const Hold hold = Mutex(client, "kept").acquire();
  Client moved = std::move(client);
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(Mutex(moved, "kept").try_acquire());
  client = open();
  EXPECT_FALSE(Mutex(client, "kept").try_acquire());
}

TEST_P(ClientConformance, AssigningClosesTheOldClient) {
  Client client = open();
  const Hold hold = Mutex(client, "kept").acquire();
  client = open();
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(eventually([&] { return Mutex(client, "kept").try_acquire().has_value(); }));
}

}  // namespace
}  // namespace holdfast::conformance
