// The standard library's own tools on our mutexes.

#include <gtest/gtest.h>

#include <concepts>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;

template <class T>
concept Lockable = requires(T mutex) {
  mutex.lock();
  { mutex.try_lock() } -> std::same_as<bool>;
  mutex.unlock();
};

template <class T>
concept TimedLockable = Lockable<T> && requires(T mutex, std::chrono::steady_clock::time_point steady,
                                                std::chrono::system_clock::time_point system) {
  { mutex.try_lock_for(std::chrono::milliseconds(1)) } -> std::same_as<bool>;
  { mutex.try_lock_for(std::chrono::duration<double>(1)) } -> std::same_as<bool>;
  { mutex.try_lock_until(steady) } -> std::same_as<bool>;
  { mutex.try_lock_until(system) } -> std::same_as<bool>;
};

static_assert(TimedLockable<Mutex> && TimedLockable<RecursiveMutex>);
static_assert(noexcept(std::declval<Mutex&>().unlock()) && noexcept(std::declval<RecursiveMutex&>().unlock()));

bool is_free(Client& client, const LockName& name) {
  return test::eventually([&] { return Mutex(client, name).try_acquire().has_value(); });
}

bool is_taken(Client& client, const LockName& name) { return !Mutex(client, name).try_acquire().has_value(); }

TEST_P(MutexConformance, WorksWithLockGuard) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine");
  {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(is_taken(other, "mine"));
  }
  EXPECT_TRUE(is_free(other, "mine"));
}

TEST_P(MutexConformance, WorksWithUniqueLock) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine");
  std::unique_lock lock(mutex, std::defer_lock);
  EXPECT_TRUE(is_free(other, "mine"));
  ASSERT_TRUE(becomes_free(other, "mine"));
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(is_taken(other, "mine"));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(10s));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_until(std::chrono::steady_clock::now() + 10s));
  std::unique_lock moved = std::move(lock);
  EXPECT_TRUE(moved.owns_lock());
  moved.unlock();
  moved.lock();
  EXPECT_TRUE(is_taken(other, "mine"));
}

TEST_P(MutexConformance, WorksWithUniqueLockThatTries) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine");
  Mutex others(other, "mine");
  {
    const std::unique_lock first(mutex, std::try_to_lock);
    EXPECT_TRUE(first.owns_lock());
    const std::unique_lock second(others, std::try_to_lock);
    EXPECT_FALSE(second.owns_lock());
    const std::unique_lock third(others, 300ms);
    EXPECT_FALSE(third.owns_lock());
    const std::unique_lock fourth(others, std::chrono::steady_clock::now() + 300ms);
    EXPECT_FALSE(fourth.owns_lock());
  }
  const std::unique_lock fifth(others, test::patience);
  EXPECT_TRUE(fifth.owns_lock());
}

TEST_P(MutexConformance, WorksWithScopedLockOverSeveral) {
  Client client = open();
  Client other = open();
  Mutex one(client, "one");
  Mutex two(client, "two");
  RecursiveMutex three(client, "three");
  {
    const std::scoped_lock lock(one, two, three);
    for (const char* name : {"one", "two", "three"}) EXPECT_TRUE(is_taken(other, name)) << name;
  }
  for (const char* name : {"one", "two", "three"}) EXPECT_TRUE(is_free(other, name)) << name;
}

TEST_P(MutexConformance, ScopedLocksInOppositeOrderDoNotDeadlock) {
  Client client = open();
  Client other = open();
  int counter = 0;
  const auto work = [&](Client& mine, const char* first, const char* second) {
    Mutex one(mine, first);
    Mutex two(mine, second);
    for (int round = 0; round < 25; ++round) {
      const std::scoped_lock lock(one, two);
      ++counter;
    }
  };
  {
    const std::jthread threads[] = {
        std::jthread([&] { work(client, "one", "two"); }), std::jthread([&] { work(client, "two", "one"); }),
        std::jthread([&] { work(other, "one", "two"); }), std::jthread([&] { work(other, "two", "one"); })};
  }
  EXPECT_EQ(counter, 100);
}

TEST_P(MutexConformance, WorksWithAConditionVariable) {
  Client client = open();
  Mutex mutex(client, "mine");
  std::condition_variable_any changed;
  bool ready = false;
  Background waiter([&](std::stop_token stop) {
    std::unique_lock lock(mutex);
    return changed.wait(lock, stop, [&] { return ready; });
  });
  {
    const std::scoped_lock lock(mutex);
    ready = true;
  }
  changed.notify_all();
  EXPECT_TRUE(waiter.take());
}

TEST_P(MutexConformance, AnExceptionUnlocks) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine");
  EXPECT_THROW(
      {
        const std::scoped_lock lock(mutex);
        throw std::runtime_error("work failed");
      },
      std::runtime_error);
  EXPECT_TRUE(is_free(other, "mine"));
}

void expect_deadlock_error(Mutex& mutex) {
  try {
    mutex.lock();
    FAIL() << "locked twice";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur) << error.what();
  }
}

TEST_P(MutexConformance, LockingAgainInTheSameThreadIsAnError) {
  Client client = open();
  Mutex mutex(client, "mine");
  Mutex same(client, "mine");
  mutex.lock();
  expect_deadlock_error(mutex);
  expect_deadlock_error(same);
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(same.try_lock());
  EXPECT_FALSE(same.try_lock_for(20ms));
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
  EXPECT_TRUE(same.try_lock());
  same.unlock();
}

TEST_P(MutexConformance, AnotherThreadMayWaitForWhatThisOneHolds) {
  Client client = open();
  Mutex mutex(client, "mine");
  mutex.lock();
  Background waiter([&](std::stop_token stop) {
    mutex.lock(stop);
    mutex.unlock();
  });
  ASSERT_TRUE(waiting_becomes(client, 1));
  mutex.unlock();
  EXPECT_EQ(waiter.error(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::conformance
