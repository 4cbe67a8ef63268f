// The end of a client.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "conformance/fixture.hpp"
#include "conformance/waiting_calls.hpp"
#include "support/descriptors.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;
using test::Recorder;

TEST_P(ClientConformance, ClosingEndsEveryWait) {
  Client holder = open();
  const Hold hold = Mutex(holder, "taken").acquire();
  for (const auto& [name, call] : waiting_calls) {
    SCOPED_TRACE(name);
    Client client = open();
    Mutex mutex(client, "taken");
    Background waiter([&](std::stop_token stop) { call(mutex, stop); });
    ASSERT_TRUE(line_becomes(holder, "taken", 1));
    client.close();
    EXPECT_EQ(waiter.error(), Errc::closed);
    EXPECT_TRUE(line_becomes(holder, "taken", 0));
  }
  EXPECT_TRUE(hold.valid());
}

TEST_P(ClientConformance, ClosingEndsWaitsBehindItsOwnHold) {
  Client client = open();
  Mutex mutex(client, "taken");
  const Hold hold = mutex.acquire();
  Background first([&](std::stop_token stop) { return mutex.acquire(stop); });
  Background second([&](std::stop_token stop) { mutex.lock(stop); });
  ASSERT_TRUE(waiting_becomes(client, 2));
  client.close();
  EXPECT_EQ(first.error(), Errc::closed);
  EXPECT_EQ(second.error(), Errc::closed);
}

TEST_P(ClientConformance, ClosingLosesTheHoldsThatAreOut) {
  Client other = open();
  Client client = open();
  Recorder<HoldState> states;
  Hold hold = Mutex(client, "mine").acquire();
  hold.on_change([&](HoldState state) { states.add(state); });
  const std::stop_token stop = hold.stop_token();
  const int descriptor = hold.lost_fd();
  client.close();
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_FALSE(hold.valid());
  EXPECT_EQ(hold.remaining(), 0ns);
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(test::is_readable(descriptor));
  EXPECT_EQ(states.all(), std::vector{HoldState::lost});
  EXPECT_EQ(hold.release(), Released::not_held);
  EXPECT_TRUE(errc_of([&] { hold.extend(1s); }).has_value());
  EXPECT_TRUE(Mutex(other, "mine").try_acquire()) << "the store had confirmed that it was given back";
}

TEST_P(ClientConformance, ClosingServesTheNextClient) {
  Client other = open();
  Client client = open();
  Mutex mutex(client, "mine");
  mutex.lock();
  Background waiter([&](std::stop_token stop) { return Mutex(other, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(other, "mine", 1));
  client.close();
  EXPECT_TRUE(waiter.take().valid());
  mutex.unlock();
}

TEST_P(ClientConformance, MayBeClosedTwiceAndByManyThreads) {
  Client client = open();
  const Hold hold = Mutex(client, "mine").acquire();
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) threads.emplace_back([&] { client.close(); });
  }
  client.close();
  EXPECT_EQ(hold.state(), HoldState::lost);
}

TEST_P(ClientConformance, ClosingAnIdleClientIsQuick) {
  Client never_used = open({.close_timeout = 60s});
  Client used = open({.close_timeout = 60s});
  static_cast<void>(Mutex(used, "mine").acquire());
  const auto begin = std::chrono::steady_clock::now();
  never_used.close();
  used.close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST_P(ClientConformance, AfterClosingEveryCallSaysSo) {
  Client client = open();
  Mutex mutex(client, "mine");
  RecursiveMutex recursive(client, "mine");
  mutex.lock();
  mutex.unlock();
  client.close();
  for (const auto& [name, call] : waiting_calls) {
    EXPECT_EQ(errc_of([&] { call(mutex, {}); }), Errc::closed) << name;
  }
  EXPECT_EQ(errc_of([&] { mutex.try_lock(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.try_acquire()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { recursive.lock(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { recursive.try_lock(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(client.list()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(client.show("mine")); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { client.evict("mine"); }), Errc::closed);
  EXPECT_EQ(client.identity().pid, getpid());
  EXPECT_EQ(recursive.depth(), 0u);
}

TEST_P(MutexConformance, MayOutliveItsClient) {
  std::optional<Client> client(open());
  Mutex mutex(*client, "mine");
  RecursiveMutex recursive(*client, "other");
  Mutex locked(*client, "locked");
  locked.lock();
  client.reset();
  EXPECT_EQ(errc_of([&] { mutex.lock(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mutex.try_lock(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(mutex.acquire()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { recursive.lock(); }), Errc::closed);
  EXPECT_EQ(mutex.name(), LockName("mine"));
  EXPECT_EQ(recursive.depth(), 0u);
  locked.unlock();
}

TEST_P(HoldConformance, MayOutliveItsClient) {
  std::optional<Client> client(open());
  Hold hold = Mutex(*client, "mine").acquire();
  const Token token = hold.token();
  client.reset();
  EXPECT_TRUE(hold);
  EXPECT_EQ(hold.token(), token);
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_TRUE(hold.stop_token().stop_requested());
  EXPECT_TRUE(test::is_readable(hold.lost_fd()));
  EXPECT_EQ(hold.release(), Released::not_held);
}

/// Makes a client, two mutexes, a lock and a hold, and destroys them in the order of `order`, a permutation.
void destroy_in_order(const std::string& url, const std::vector<int>& order) {
  auto client = std::make_unique<Client>(url);
  auto mutex = std::make_unique<Mutex>(*client, "one");
  auto locked = std::make_unique<Mutex>(*client, "two");
  locked->lock();
  auto hold = std::make_unique<Hold>(mutex->acquire());
  const std::function<void()> steps[] = {[&] { client.reset(); }, [&] { mutex.reset(); },
                                         [&] {
                                           locked->unlock();
                                           locked.reset();
                                         },
                                         [&] { hold.reset(); }};
  for (const int step : order) steps[step]();
}

TEST_P(ClientConformance, MayBeDestroyedInAnyOrder) {
  const Client observer = open();
  std::vector<int> order = {0, 1, 2, 3};
  do {
    destroy_in_order(url(), order);
    EXPECT_TRUE(becomes_free(observer, "one"));
    EXPECT_TRUE(becomes_free(observer, "two"));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(ClientConformance, ClosingWhileThreadsTakeLocksEndsThemAll) {
  Client observer = open();
  for (int round = 0; round < 20; ++round) {
    Client client = open();
    std::atomic<int> begun = 0;
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        Mutex mutex(client, "contended/" + std::to_string(number % 2));
        const auto error = errc_of([&] {
          while (true) {
            ++begun;
            const std::scoped_lock lock(mutex);
          }
        });
        EXPECT_EQ(error, Errc::closed);
      });
    }
    ASSERT_TRUE(eventually([&] { return begun > 50; }));
    client.close();
    threads.clear();
    EXPECT_FALSE(observer.show("contended/0")) << "round " << round;
    EXPECT_FALSE(observer.show("contended/1")) << "round " << round;
  }
}

}  // namespace
}  // namespace holdfast::conformance
