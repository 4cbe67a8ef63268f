// What happens to a server while locks are held and waited for.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/every_call.hpp"
#include "support/proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::redis_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::eventually;
using test::RedisServer;

bool waits(const Client& client, const LockName& name, std::size_t count) {
  return eventually([&] {
    const auto status = client.show(name);
    return status && status->waiters.size() == count;
  });
}

/// Does something over and over until it goes.
class Nuisance {
 public:
  explicit Nuisance(std::function<void()> act)
      : thread_([this, act = std::move(act)] {
          while (!ending_) act();
        }) {}
  ~Nuisance() {
    ending_ = true;
    thread_.join();
  }
  Nuisance(const Nuisance&) = delete;
  Nuisance& operator=(const Nuisance&) = delete;

 private:
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

TEST(RedisDisturbances, ForgottenScriptsAreSentAgain) {
  const RedisServer server;
  const Nuisance flush([&] { server.command({"SCRIPT", "FLUSH"}); });
  int count = 0;
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(server.url()));
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        const Hold hold = Mutex(client, "name").acquire();
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 300);
}

/// Each later request would get the reply to the one that follows it, and the connection would never seem silent.
TEST(RedisDisturbances, AConnectionOnWhichAReplyWentMissingIsLeft) {
  const RedisServer server;
  test::Proxy proxy(server.port());
  Client client("redis://" + proxy.address());
  ASSERT_FALSE(client.show("name"));
  proxy.lose_replies();
  EXPECT_FALSE(test::succeeds([&] { static_cast<void>(client.show("name")); }));
  EXPECT_GT(proxy.lost(), 0U);
  proxy.keep_replies();
  EXPECT_TRUE(eventually([&] { return test::succeeds([&] { static_cast<void>(client.show("name")); }); }));
}

TEST(RedisDisturbances, AWaiterWhoseSubscriptionIsKilledIsServedSoon) {
  const RedisServer server;
  Client holder(server.url());
  Client waiter(server.url());
  for (int round = 0; round < 5; ++round) {
    Hold hold = Mutex(holder, "name", {.ttl = 30s}).acquire();
    Background next([&](std::stop_token stop) { return Mutex(waiter, "name", {.ttl = 30s}).acquire(stop).valid(); });
    ASSERT_TRUE(waits(holder, "name", 1));
    ASSERT_TRUE(eventually([&] { return server.command({"PUBSUB", "CHANNELS"}) != ""; }));
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    const auto begin = std::chrono::steady_clock::now();
    hold = {};
    EXPECT_TRUE(next.take());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "not only at the next renewal";
  }
}

TEST(RedisDisturbances, AConnectionThatWasClosedWhileItWasIdleIsMadeAgainInTime) {
  const RedisServer server;
  Client client(server.url());
  Register number(client, "number");
  EXPECT_EQ(number.add(1), 1);
  std::this_thread::sleep_for(1100ms);  // longer than it is trusted without looking
  server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  EXPECT_EQ(number.add(1), 2) << "not in doubt";
}

TEST(RedisDisturbances, LostDataAreALossAndTokensRise) {
  const RedisServer server;
  Client client(server.url());
  Hold hold = Mutex(client, "name", {.ttl = 1s}).acquire();
  const Token before = hold.token();
  server.command({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_GT(Mutex(client, "name").acquire().token(), before);
}

TEST(RedisDisturbances, WhatANewPrimaryDoesNotHaveIsLostAtOnce) {
  const RedisServer server;
  Client client(server.url());
  Hold hold = Mutex(client, "name", {.ttl = 60s}).acquire();
  const auto can_lock = [&] {
    return test::succeeds([&] { static_cast<void>(Mutex(client, "other").try_acquire()); });
  };
  server.command({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_FALSE(can_lock());
  server.command({"REPLICAOF", "NO", "ONE"});
  server.command({"FLUSHALL"});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually(can_lock));
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s) << "long before the next renewal";
}

TEST(RedisDisturbances, WaitersWhoseClaimsAreDeletedJoinAgain) {
  const RedisServer server;
  Client holder(server.url());
  Client waiter(server.url());
  Hold hold = Mutex(holder, "name", {.ttl = 1s}).acquire();
  Background next([&](std::stop_token stop) { return Mutex(waiter, "name", {.ttl = 1s}).acquire(stop).valid(); });
  ASSERT_TRUE(waits(holder, "name", 1));
  server.command({"FLUSHALL"});
  EXPECT_TRUE(next.take());
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
}

TEST(RedisDisturbances, ConnectionsThatAreCutAreMadeAgain) {
  const RedisServer server;
  const Nuisance cut([&] {
    std::this_thread::sleep_for(50ms);
    server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  });
  std::atomic<int> count = 0;
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    const auto passed = std::chrono::steady_clock::now() - begin;
    return (count > 30 && passed > 3s) || passed > test::patience;
  };
  for (int i = 0; i < 3; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(server.url()));
    threads.emplace_back([&] {
      while (!is_over()) {
        const Hold hold = Mutex(client, "name", {.ttl = 3s}).acquire();
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(count, 30);
}

}  // namespace
}  // namespace holdfast::redis_suite
