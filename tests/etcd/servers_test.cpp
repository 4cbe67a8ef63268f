// Which of several servers is used, when some of them do not answer.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "holdfast/holdfast.hpp"
#include "redis/fake_server.hpp"
#include "support/background.hpp"
#include "support/black_hole.hpp"
#include "support/errors.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::BlackHole;
using test::EtcdServer;
using test::eventually;

/// How long a client takes that knows nothing yet. The usual limit for that is 5 s.
std::chrono::milliseconds time_of_first_contact(const std::string& url) {
  const auto begin = std::chrono::steady_clock::now();
  Client client(url);
  EXPECT_FALSE(test::error_of([&] { Mutex(client, "name").acquire().release(); })) << url;
  const auto end = std::chrono::steady_clock::now();
  std::cout << url << ": " << std::chrono::round<std::chrono::milliseconds>(end - begin).count() << " ms\n";
  return std::chrono::round<std::chrono::milliseconds>(end - begin);
}

TEST(EtcdServers, OneThatIsABlackHoleIsPassedOver) {
  const EtcdServer server;
  const BlackHole hole;
  EXPECT_LT(time_of_first_contact("etcd://" + hole.address() + "," + server.hosts()), 5s);
}

TEST(EtcdServers, OneThatAcceptsAndSaysNothingIsPassedOver) {
  const EtcdServer server;
  const redis_suite::FakeServer silent("");
  EXPECT_LT(time_of_first_contact("etcd://" + silent.address() + "," + server.hosts()), 5s);
}

TEST(EtcdServers, SeveralBlackHolesTakeLessThanTheConnectTimeout) {
  const EtcdServer server;
  const BlackHole hole;
  std::string url = "etcd://";
  for (int i = 0; i < 5; ++i) url += hole.address() + ",";
  EXPECT_LT(time_of_first_contact(url + server.hosts()), 5s);
}

/// A wait of one second is as long as the store is asked once.
TEST(EtcdServers, ABlackHoleDoesNotTakeAllOfAShortWait) {
  const EtcdServer server;
  const BlackHole hole;
  int refused = 0;
  constexpr int tries = 5;
  for (int i = 0; i < tries; ++i) {
    Client client("etcd://" + hole.address() + "," + server.hosts());
    const auto error = test::error_of([&] { EXPECT_TRUE(Mutex(client, "name").try_acquire_for(1s)); });
    if (error) ++refused;
  }
  EXPECT_LT(refused, tries) << "now and then a busy machine takes a second for anything";
}

/// Whoever only waits makes no calls: its watch is what finds out.
TEST(EtcdServers, AWaiterIsServedWhenItsServerIsGoneAndTheNextIsABlackHole) {
  EtcdServer cluster({.servers = 3});
  const BlackHole hole;
  Client holder("etcd://127.0.0.1:" + cluster.port(1));
  Client waiter("etcd://127.0.0.1:" + cluster.port(0) + "," + hole.address() + ",127.0.0.1:" + cluster.port(2));
  Hold hold = Mutex(holder, "name", {.ttl = 60s}).acquire();
  Background next([&](std::stop_token stop) { return Mutex(waiter, "name", {.ttl = 60s}).acquire(stop).valid(); });
  ASSERT_TRUE(eventually([&] {
    const auto status = holder.show("name");
    return status && status->waiters.size() == 1;
  }));
  cluster.kill(0);
  ASSERT_FALSE(test::error_of([&] { test::answered([&] { return hold.release(); }); }));
  EXPECT_TRUE(next.take());
}

}  // namespace
}  // namespace holdfast::etcd_suite
