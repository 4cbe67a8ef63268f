// Readers together, a writer alone; and what is refused.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
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
using test::Recorder;

/// What locking a mutex that this thread has locked already is refused with; empty if it is not.
template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
    return error.what();
  }
  return {};
}

// RW01
TEST_P(SharedMutexConformance, ManyReadersHoldItTogether) {
  std::vector<Client> clients;
  for (int number = 0; number < 3; ++number) clients.push_back(open());
  std::vector<Hold> holds;
  for (int round = 0; round < 4; ++round) {
    for (Client& client : clients) holds.push_back(SharedMutex(client, "list").acquire_shared());
  }
  for (const Hold& hold : holds) {
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(hold.mode(), ClaimMode::shared);
    EXPECT_EQ(hold.permits(), 1u);
  }
  EXPECT_TRUE(holders_become(clients[0], "list", 3));
  const LockStatus status = clients[0].show("list").value();
  for (const ClaimStatus& holder : status.holders) EXPECT_EQ(holder.mode, ClaimMode::shared);
  for (Client& client : clients) EXPECT_EQ(client.health().holds, 4u);
  holds.clear();
  EXPECT_TRUE(becomes_free(clients[0], "list"));
}

// RW02
TEST_P(SharedMutexConformance, AWriterIsAlone) {
  Client client = open();
  Client other = open();
  const Hold writer = SharedMutex(client, "list").acquire();
  EXPECT_EQ(writer.mode(), ClaimMode::exclusive);
  for (Client* somebody : {&client, &other}) {
    EXPECT_FALSE(SharedMutex(*somebody, "list").try_acquire());
    EXPECT_FALSE(SharedMutex(*somebody, "list").try_lock());
  }
  EXPECT_EQ(other.show("list").value().holders.at(0).mode, ClaimMode::exclusive);
}

// RW03
TEST_P(SharedMutexConformance, AReaderIsRefusedWhileSomebodyWrites) {
  Client client = open();
  Client other = open();
  Hold writer = SharedMutex(client, "list").acquire();
  for (Client* somebody : {&client, &other}) {
    SharedMutex mutex(*somebody, "list");
    EXPECT_FALSE(mutex.try_lock_shared());
    EXPECT_FALSE(mutex.try_lock_shared_for(0s));
    EXPECT_FALSE(mutex.try_lock_shared_until(steady_clock::now() - 1h));
    EXPECT_FALSE(mutex.try_acquire_shared());
    EXPECT_FALSE(mutex.try_acquire_shared_for(0s));
    EXPECT_FALSE(mutex.try_acquire_shared_until(steady_clock::now()));
  }
  EXPECT_TRUE(line_becomes(client, "list", 0)) << "a try left something in the line";
  writer.release();
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire_shared());
}

// RW04
TEST_P(SharedMutexConformance, AWriterIsRefusedWhileSomebodyReads) {
  Client client = open();
  Client other = open();
  Hold reader = SharedMutex(client, "list").acquire_shared();
  for (Client* somebody : {&client, &other}) {
    SharedMutex mutex(*somebody, "list");
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_for(0s));
    EXPECT_FALSE(mutex.try_acquire());
    EXPECT_FALSE(mutex.try_acquire_until(steady_clock::now()));
    EXPECT_TRUE(mutex.try_acquire_shared()) << "a refused writer is in nobody's way";
  }
  reader.release();
  EXPECT_TRUE(becomes_free(client, "list"));
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire());
}

TEST_P(SharedMutexConformance, AWriterWaitsForTheLastReader) {
  Client client = open();
  Client other = open();
  Client third = open();
  Hold first = SharedMutex(client, "list").acquire_shared();
  Hold second = SharedMutex(other, "list").acquire_shared();
  Background writer([&](std::stop_token stop) { return SharedMutex(third, "list").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "list", 1));
  EXPECT_EQ(first.release(), Released::released);
  EXPECT_TRUE(holders_become(client, "list", 1));
  EXPECT_FALSE(writer.finishes(200ms));
  EXPECT_EQ(second.release(), Released::released);
  EXPECT_TRUE(writer.take().valid());
}

TEST_P(SharedMutexConformance, WorksWithTheLocksOfTheStandardLibrary) {
  Client client = open();
  Client other = open();
  SharedMutex mutex(client, "list");
  SharedMutex elsewhere(other, "list");
  {
    const std::shared_lock reading(mutex);
    EXPECT_EQ(mutex.hold().mode(), ClaimMode::shared);
    EXPECT_TRUE(std::shared_lock(elsewhere, std::try_to_lock).owns_lock());
    EXPECT_FALSE(std::unique_lock(elsewhere, std::try_to_lock).owns_lock());
  }
  ASSERT_TRUE(becomes_free(client, "list"));
  {
    const std::unique_lock writing(mutex);
    EXPECT_EQ(mutex.hold().mode(), ClaimMode::exclusive);
    EXPECT_FALSE(std::shared_lock(elsewhere, std::try_to_lock).owns_lock());
  }
  ASSERT_TRUE(becomes_free(client, "list"));
  SharedMutex second(client, "second");
  {
    const std::scoped_lock both(mutex, second);
    EXPECT_TRUE(mutex.hold().valid());
    EXPECT_TRUE(second.hold().valid());
  }
  ASSERT_TRUE(becomes_free(client, "list"));
  std::shared_lock later(elsewhere, std::defer_lock);
  EXPECT_TRUE(later.try_lock_for(test::patience));
  later.unlock();
  EXPECT_TRUE(later.try_lock_until(steady_clock::now() + test::patience));
}

TEST_P(SharedMutexConformance, ANegativeWaitIsATryForLocksAndAMistakeForHandles) {
  Client client = open();
  SharedMutex mutex(client, "list");
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.try_acquire_shared_for(-1s)); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.try_acquire_for(-1s)); }), Errc::invalid_argument);
  ASSERT_TRUE(mutex.try_lock_shared_for(-1s));
  mutex.unlock_shared();
  EXPECT_EQ(errc_of([&] { SharedMutex(client, "list", {.ttl = 0ms}); }), Errc::invalid_argument);
}

// RW11
TEST_P(SharedMutexConformance, AReaderCannotBecomeAWriterAndIsToldSoAtOnce) {
  Client client = open();
  SharedMutex mutex(client, "list");
  SharedMutex same(client, "list");
  const std::shared_lock reading(mutex);
  for (SharedMutex* object : {&mutex, &same}) {
    EXPECT_NE(refusal_of([&] { object->lock(); }).find("unlock_shared() first"), std::string::npos);
    EXPECT_FALSE(object->try_lock());
    EXPECT_FALSE(object->try_lock_for(1h));
    EXPECT_FALSE(object->try_lock_until(steady_clock::now() + 1h));
  }
  EXPECT_TRUE(mutex.hold().valid());
  EXPECT_EQ(mutex.hold().mode(), ClaimMode::shared);
  EXPECT_TRUE(line_becomes(client, "list", 0));
}

// RW11: the deadlock that is refused.
TEST_P(SharedMutexConformance, TwoReadersWhoWantToWriteDoNotWaitForEachOther) {
  Client client = open();
  Client other = open();
  std::atomic<int> reading = 0;
  std::atomic<int> refused = 0;
  const auto upgrade = [&](Client& mine) {
    return [&](std::stop_token stop) {
      SharedMutex mutex(mine, "list");
      const std::shared_lock lock(mutex);
      ++reading;
      EXPECT_TRUE(eventually([&] { return reading == 2; }));
      const std::string refusal = refusal_of([&] { mutex.lock(stop); });
      ++refused;
      EXPECT_TRUE(eventually([&] { return refused == 2; })) << "one waits for the other";
      return refusal;
    };
  };
  Background first(upgrade(client));
  Background second(upgrade(other));
  ASSERT_TRUE(first.finishes() && second.finishes());
  EXPECT_FALSE(first.take().empty());
  EXPECT_FALSE(second.take().empty());
}

TEST_P(SharedMutexConformance, AThreadLocksItOnce) {
  Client client = open();
  SharedMutex mutex(client, "list");
  mutex.lock_shared();
  EXPECT_FALSE(refusal_of([&] { mutex.lock_shared(); }).empty());
  EXPECT_FALSE(mutex.try_lock_shared());
  mutex.unlock_shared();
  mutex.lock();
  EXPECT_FALSE(refusal_of([&] { mutex.lock(); }).empty());
  EXPECT_FALSE(refusal_of([&] { mutex.lock_shared(); }).empty());
  EXPECT_FALSE(mutex.try_lock_shared_for(1h));
  mutex.unlock();
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.hold()); }), Errc::not_held);
}

TEST_P(SharedMutexConformance, AnUnlockOfTheOtherKindChangesNothingAndIsReported) {
  Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  Client other = open();
  SharedMutex mutex(client, "list");
  mutex.lock_shared();
  mutex.unlock();
  ASSERT_TRUE(errors.reaches(1));
  EXPECT_TRUE(mutex.hold().valid());
  EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
  mutex.unlock_shared();
  ASSERT_TRUE(becomes_free(other, "list"));

  mutex.lock();
  mutex.unlock_shared();
  ASSERT_TRUE(errors.reaches(2));
  EXPECT_TRUE(mutex.hold().valid());
  EXPECT_FALSE(SharedMutex(other, "list").try_acquire_shared());
  mutex.unlock();
  EXPECT_TRUE(becomes_free(other, "list"));
  EXPECT_EQ(errors.all(), (std::vector{Errc::not_held, Errc::not_held}));
}

TEST_P(SharedMutexConformance, AnUnlockByAStrangerChangesNothingAndIsReported) {
  Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  SharedMutex mutex(client, "list");
  mutex.lock_shared();
  std::jthread([&] {
    mutex.unlock_shared();
    mutex.unlock();
  }).join();
  ASSERT_TRUE(errors.reaches(2));
  EXPECT_EQ(errors.all(), (std::vector{Errc::not_held, Errc::not_held}));
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock_shared();
}

TEST_P(SharedMutexConformance, AMutexOfThatNameIsAWriter) {
  Client client = open();
  Client other = open();
  {
    const Hold hold = Mutex(client, "list").acquire();
    for (Client* somebody : {&client, &other}) {
      EXPECT_FALSE(SharedMutex(*somebody, "list").try_acquire_shared());
      EXPECT_FALSE(SharedMutex(*somebody, "list").try_acquire());
    }
  }
  ASSERT_TRUE(becomes_free(client, "list"));
  const Hold reader = SharedMutex(client, "list").acquire_shared();
  for (Client* somebody : {&client, &other}) {
    EXPECT_FALSE(Mutex(*somebody, "list").try_acquire());
    EXPECT_FALSE(RecursiveMutex(*somebody, "list").try_lock());
  }
}

// What a store without shared locks answers.
TEST_P(NoSharedMutexConformance, ReadersAreRefusedWithTheReason) {
  Client client = open();
  SharedMutex mutex(client, "list");
  EXPECT_EQ(errc_of([&] { mutex.lock_shared(); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.try_acquire_shared()); }), Errc::unsupported);
  Hold writer = mutex.acquire();
  EXPECT_EQ(errc_of([&] { writer.downgrade(); }), Errc::unsupported);
  EXPECT_EQ(writer.mode(), ClaimMode::exclusive);
  EXPECT_TRUE(writer.valid());
}

}  // namespace
}  // namespace holdfast::conformance
