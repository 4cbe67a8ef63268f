// A writer that becomes a reader, without a gap.

#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/peer.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;
using test::Recorder;

auto reading(Client& client) {
  return [&client](std::stop_token stop) { return SharedMutex(client, "list").acquire_shared(stop); };
}
auto writing(Client& client) {
  return [&client](std::stop_token stop) { return SharedMutex(client, "list").acquire(stop); };
}

// RW12
TEST_P(SharedMutexConformance, ADowngradedWriterReadsWithItsToken) {
  Client client = open();
  Client other = open();
  Hold hold = SharedMutex(client, "list").acquire();
  const Token token = hold.token();
  const LockStatus before = other.show("list").value();
  hold.downgrade();
  EXPECT_EQ(hold.mode(), ClaimMode::shared);
  EXPECT_EQ(hold.token(), token);
  EXPECT_EQ(hold.state(), HoldState::held);
  const LockStatus after = other.show("list").value();
  ASSERT_EQ(after.holders.size(), 1u);
  EXPECT_EQ(after.holders[0].mode, ClaimMode::shared);
  EXPECT_EQ(after.holders[0].number, before.holders.at(0).number);
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire_shared());
  EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
  EXPECT_EQ(hold.release(), Released::released);
  EXPECT_TRUE(becomes_free(other, "list"));
}

// RW12
TEST_P(SharedMutexConformance, ADowngradeLetsNoWaitingWriterInBetween) {
  Client client = open();
  Client other = open();
  for (int round = 0; round < 10; ++round) {
    Hold hold = SharedMutex(client, "list").acquire();
    Background writer(writing(other));
    ASSERT_TRUE(line_becomes(client, "list", 1));
    hold.downgrade();
    EXPECT_FALSE(writer.finishes(20ms));
    EXPECT_TRUE(hold.valid());
    const LockStatus status = client.show("list").value();
    EXPECT_EQ(status.holders.at(0).client.id, client.identity().id);
    EXPECT_EQ(status.waiters.size(), 1u);
    hold.release();
    EXPECT_GT(writer.take().token(), hold.token());
  }
}

// RW12
TEST_P(SharedMutexConformance, ADowngradeLetsWaitingReadersIn) {
  Client client = open();
  Client other = open();
  Hold hold = SharedMutex(client, "list").acquire();
  Background theirs(reading(other));
  Background ours(reading(client));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  ASSERT_TRUE(waiting_becomes(client, 1));
  hold.downgrade();
  EXPECT_TRUE(theirs.take().valid());
  EXPECT_TRUE(ours.take().valid());
  EXPECT_TRUE(hold.valid());
}

// RW12: readers before the writer enter, and the writer waits for all of them.
TEST_P(FifoConformance, ADowngradeServesTheLineUpToTheNextWriter) {
  Client client = open();
  Client before = open();
  Client writers = open();
  Client after = open();
  Hold hold = SharedMutex(client, "list").acquire();
  Background first(reading(before));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  Background writer(writing(writers));
  ASSERT_TRUE(line_becomes(client, "list", 2));
  Background last(reading(after));
  ASSERT_TRUE(line_becomes(client, "list", 3));
  hold.downgrade();
  Hold read = first.take();
  EXPECT_FALSE(writer.finishes(200ms));
  EXPECT_FALSE(last.finished());
  hold.release();
  EXPECT_FALSE(writer.finishes(200ms));
  read.release();
  Hold written = writer.take();
  EXPECT_FALSE(last.finishes(200ms));
  written.release();
  EXPECT_TRUE(last.take().valid());
}

// RW12, inside one client
TEST_P(SharedMutexConformance, ADowngradeKeepsAWaitingWriterOfItsOwnClientWaiting) {
  Client client = open();
  Hold hold = SharedMutex(client, "list").acquire();
  Background writer(writing(client));
  ASSERT_TRUE(waiting_becomes(client, 1));
  hold.downgrade();
  EXPECT_FALSE(writer.finishes(200ms));
  EXPECT_TRUE(hold.valid());
  hold.release();
  EXPECT_GT(writer.take().token(), hold.token());
}

// RW12
TEST_P(SharedMutexConformance, ADowngradedHoldIsRenewed) {
  Client client = open();
  Hold hold = SharedMutex(client, "list", {.ttl = steady_ttl()}).acquire();
  // A busy store may answer later than so short a lease lets the call wait; then it is told again.
  const auto error = errc_of([&] { hold.downgrade(); });
  EXPECT_TRUE(!error || error == Errc::in_doubt);
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(client.show("list").value().holders.at(0).mode, ClaimMode::shared);
}

TEST_P(FixedLeaseSharedMutexConformance, ADowngradedHoldEndsWithItsFixedLease) {
  Client client = open();
  Client other = open();
  Hold hold = SharedMutex(client, "list", {.ttl = 2 * short_ttl(), .lease = LeaseKind::fixed}).acquire();
  hold.downgrade();
  Background writer(writing(other));
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_GT(writer.take().token(), hold.token());
}

// RW12, RW13: by thread
TEST_P(SharedMutexConformance, AThreadsLockBecomesALockShared) {
  Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  Client other = open();
  SharedMutex mutex(client, "list");
  mutex.lock();
  const Token token = mutex.hold().token();
  mutex.downgrade();
  EXPECT_EQ(mutex.hold().mode(), ClaimMode::shared);
  EXPECT_EQ(mutex.hold().token(), token);
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire_shared());
  mutex.unlock();  // it is a reader now
  EXPECT_TRUE(errors.reaches(1));
  EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
  mutex.unlock_shared();
  EXPECT_TRUE(becomes_free(other, "list"));
  EXPECT_EQ(errors.size(), 1u);
}

TEST_P(SharedMutexConformance, ADowngradedUniqueLockCanBecomeASharedLock) {
  Client client = open();
  Client other = open();
  SharedMutex mutex(client, "list");
  {
    std::unique_lock writing(mutex);
    mutex.downgrade();
    const std::shared_lock reading(*writing.release(), std::adopt_lock);
    EXPECT_TRUE(SharedMutex(other, "list").try_acquire_shared());
    EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
  }
  EXPECT_TRUE(becomes_free(other, "list"));
}

// RW13
TEST_P(SharedMutexConformance, OnlyTheThreadThatWritesCanDowngrade) {
  Client client = open();
  SharedMutex mutex(client, "list");
  EXPECT_EQ(errc_of([&] { mutex.downgrade(); }), Errc::not_held);
  mutex.lock();
  std::jthread([&] { EXPECT_EQ(errc_of([&] { mutex.downgrade(); }), Errc::not_held); }).join();
  EXPECT_EQ(mutex.hold().mode(), ClaimMode::exclusive);
  mutex.unlock();
}

TEST_P(SharedMutexConformance, AMutexsHoldCanBeDowngraded) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "list").acquire();
  hold.downgrade();
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire_shared());
  EXPECT_FALSE(Mutex(other, "list").try_acquire());
}

TEST_P(SharedMutexConformance, DowngradingAReaderDoesNothing) {
  Client client = open();
  Hold reader = SharedMutex(client, "list").acquire_shared();
  reader.downgrade();
  EXPECT_TRUE(reader.valid());
  EXPECT_EQ(reader.mode(), ClaimMode::shared);
  Hold writer = SharedMutex(client, "other").acquire();
  writer.downgrade();
  writer.downgrade();
  EXPECT_TRUE(writer.valid());
}

TEST_P(SharedMutexConformance, WhatIsNotHeldCannotBeDowngraded) {
  Client client = open();
  Hold nothing;
  EXPECT_EQ(errc_of([&] { nothing.downgrade(); }), Errc::not_held);
  Hold released = SharedMutex(client, "list").acquire();
  released.release();
  EXPECT_EQ(errc_of([&] { released.downgrade(); }), Errc::not_held);
  Hold lost = SharedMutex(client, "list").acquire();
  ASSERT_TRUE(client.evict("list"));
  EXPECT_EQ(errc_of([&] { lost.downgrade(); }), Errc::lost);
  EXPECT_EQ(lost.state(), HoldState::lost);
}

// Told by the store's answer, if nothing told it before.
TEST_P(SharedMutexConformance, ADowngradeOfWhatWasTakenAwayIsLostAndHarmsNobody) {
  Client client = open();
  Client other = open();
  Hold lost = SharedMutex(client, "list").acquire();
  Background writer(writing(other));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  ASSERT_TRUE(other.evict("list"));
  EXPECT_EQ(errc_of([&] { lost.downgrade(); }), Errc::lost);
  const Hold hold = writer.take();
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(client.show("list").value().holders.at(0).mode, ClaimMode::exclusive);
}

TEST_P(SemaphoreConformance, PermitsCannotBeDowngraded) {
  Client client = open();
  Hold permits = Semaphore(client, "pool", 3).acquire(2);
  EXPECT_EQ(errc_of([&] { permits.downgrade(); }), Errc::invalid_argument);
  EXPECT_TRUE(permits.valid());
  EXPECT_EQ(permits.mode(), ClaimMode::permits);
}

// RW12
TEST_P(ProcessSharedMutexConformance, ADowngradeLetsReadersOfOtherProcessesIn) {
  Client client = open();
  test::ProcessPeer reader(url());
  test::ProcessPeer writer(url());
  Hold hold = SharedMutex(client, "list").acquire();
  reader.send("share list 10000 20000");
  ASSERT_TRUE(line_becomes(client, "list", 1));
  writer.send("acquire list 10000 20000");
  ASSERT_TRUE(line_becomes(client, "list", 2));
  hold.downgrade();
  EXPECT_TRUE(reader.receive().starts_with("granted"));
  EXPECT_EQ(writer.receive(200ms), std::nullopt);
  EXPECT_TRUE(hold.valid());
  hold.release();
  EXPECT_EQ(reader.ask("release list"), "released");
  EXPECT_TRUE(writer.receive().starts_with("granted"));
}

}  // namespace
}  // namespace holdfast::conformance
