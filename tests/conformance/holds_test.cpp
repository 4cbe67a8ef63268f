// The handle: what it is, moving it, and what it does at the end of a scope.

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::errc_of;

static_assert(!std::is_copy_constructible_v<Hold> && !std::is_copy_assignable_v<Hold>);
static_assert(std::is_nothrow_default_constructible_v<Hold>);
static_assert(std::is_nothrow_move_constructible_v<Hold> && std::is_nothrow_move_assignable_v<Hold>);
static_assert(std::is_nothrow_destructible_v<Hold>);
static_assert(!std::is_convertible_v<Hold, bool> && std::is_constructible_v<bool, Hold>);
static_assert(!std::is_copy_constructible_v<Client> && std::is_nothrow_move_constructible_v<Client>);
static_assert(!std::is_copy_constructible_v<Mutex> && !std::is_move_constructible_v<Mutex>);

// M60
TEST_P(HoldConformance, IsReleasedAtTheEndOfItsScope) {
  Client client = open();
  Mutex mutex(client, "mine");
  {
    const Hold hold = mutex.acquire();
    EXPECT_FALSE(mutex.try_acquire());
  }
  EXPECT_TRUE(mutex.try_acquire());
  EXPECT_TRUE(becomes_free(client, "mine"));
}

// M60
TEST_P(HoldConformance, IsReleasedByAnException) {
  Client client = open();
  Mutex mutex(client, "mine");
  EXPECT_THROW(
      {
        const Hold hold = mutex.acquire();
        throw std::runtime_error("work failed");
      },
      std::runtime_error);
  EXPECT_TRUE(mutex.try_acquire());
}

// M60
TEST_P(HoldConformance, MovingLeavesTheSourceEmpty) {
  Client client = open();
  Hold source = Mutex(client, "mine").acquire();
  const Token token = source.token();
  Hold target = std::move(source);
  EXPECT_FALSE(source);
  EXPECT_FALSE(source.valid());
  EXPECT_TRUE(target.valid());
  EXPECT_EQ(target.token(), token);
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
}

// M60
TEST_P(HoldConformance, AssigningReleasesWhatWasHeldBefore) {
  Client client = open();
  Hold hold = Mutex(client, "first").acquire();
  hold = Mutex(client, "second").acquire();
  EXPECT_EQ(hold.name(), LockName("second"));
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(Mutex(client, "first").try_acquire());
  EXPECT_FALSE(Mutex(client, "second").try_acquire());
}

// M60
TEST_P(HoldConformance, MovingToItselfChangesNothing) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  Hold& same = hold;
  hold = std::move(same);
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
}

TEST_P(HoldConformance, AnEmptyOneHoldsNothing) {
  Hold hold;
  EXPECT_FALSE(hold);
  EXPECT_FALSE(hold.valid());
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"name", [&] { hold.name(); }},
      {"token", [&] { hold.token(); }},
      {"state", [&] { hold.state(); }},
      {"remaining", [&] { hold.remaining(); }},
      {"stop_token", [&] { hold.stop_token(); }},
      {"on_change", [&] { hold.on_change([](HoldState) {}); }},
      {"lost_fd", [&] { hold.lost_fd(); }},
      {"release", [&] { hold.release(); }},
      {"extend", [&] { hold.extend(1s); }},
  };
  for (const auto& [name, call] : calls) EXPECT_EQ(errc_of(call), Errc::not_held) << name;
}

TEST_P(HoldConformance, KeepsItsTokenAndNameAfterTheRelease) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  const Token token = hold.token();
  ASSERT_EQ(hold.release(), Released::released);
  EXPECT_TRUE(hold);
  EXPECT_EQ(hold.token(), token);
  EXPECT_EQ(hold.name(), LockName("mine"));
  EXPECT_EQ(hold.state(), HoldState::released);
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.remaining(), 0ns);
}

// M26: a handle belongs to whoever has it.
TEST_P(HoldConformance, MayBeReleasedByAnotherThread) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  std::jthread([&] { EXPECT_EQ(hold.release(), Released::released); }).join();
  EXPECT_EQ(hold.state(), HoldState::released);
  EXPECT_TRUE(Mutex(client, "mine").try_acquire());
}

// M24: of many who release at once, one has done it.
TEST_P(HoldConformance, IsReleasedOnceHoweverManyThreadsTry) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  test::Recorder<Released> outcomes;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) threads.emplace_back([&] { outcomes.add(hold.release()); });
  }
  const auto all = outcomes.take();
  EXPECT_EQ(std::count(all.begin(), all.end(), Released::released), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), Released::not_held), 7);
}

// M26
TEST_P(MutexConformance, AnUnlockByAStrangerChangesNothingAndIsReported) {
  test::Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  Mutex mutex(client, "mine");
  mutex.lock();
  std::jthread([&] { mutex.unlock(); }).join();
  EXPECT_TRUE(errors.reaches(1));
  EXPECT_EQ(errors.all(), std::vector{Errc::not_held});
  EXPECT_TRUE(mutex.hold().valid());
  EXPECT_EQ(client.show("mine").value().holders.size(), 1u);
  mutex.unlock();
  mutex.unlock();  // once too often
  EXPECT_TRUE(errors.reaches(2));
  client.close();
  EXPECT_EQ(errors.all(), (std::vector{Errc::not_held, Errc::not_held}));
}

// M26: a lock that is held by a handle is not a thread's to unlock.
TEST_P(MutexConformance, AnUnlockDoesNotReleaseAHandle) {
  test::Recorder<Errc> errors;
  Client client = open({.on_error = [&](const Error& error) { errors.add(error.errc()); }});
  Mutex mutex(client, "mine");
  const Hold hold = mutex.acquire();
  mutex.unlock();
  EXPECT_TRUE(errors.reaches(1));
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(mutex.try_acquire());
  client.close();
}

}  // namespace
}  // namespace holdfast::conformance
