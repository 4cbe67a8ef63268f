// Which of several servers is used, when some of them do not answer.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "holdfast/holdfast.hpp"
#include "redis/fake_server.hpp"
#include "support/black_hole.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/proxy.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;
using test::BlackHole;

/// A client begins with any of its servers, so the silent ones come first for most of so many clients.
constexpr int clients = 6;

/// `silent` beside the one that answers: each client takes less than the usual limit, which is 5 s.
void expect_first_contact_beside(const std::string& silent) {
  const std::string url = "zookeeper://" + silent + ",127.0.0.1:" + server().port() + "?prefix=" + new_prefix();
  for (int i = 0; i < clients; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    Client client(url);
    const auto error = test::error_of([&] { Mutex(client, "name", {.ttl = 30s}).acquire().release(); });
    const auto end = std::chrono::steady_clock::now();
    EXPECT_FALSE(error) << error->what();
    EXPECT_LT(end - begin, 5s);
    std::cout << std::chrono::round<std::chrono::milliseconds>(end - begin).count() << " ms\n";
  }
}

TEST(ZookeeperServers, OneThatIsABlackHoleIsPassedOver) {
  const BlackHole first;
  const BlackHole second;
  expect_first_contact_beside(first.address() + "," + second.address());
}

TEST(ZookeeperServers, OneThatAcceptsAndSaysNothingIsPassedOver) {
  const redis_suite::FakeServer silent("");
  expect_first_contact_beside(silent.address());
}

/// With a black hole for company it finds its way back, and its lease lasts.
TEST(ZookeeperServers, ABlackHoleDoesNotCostALockWhoseConnectionBroke) {
  const BlackHole hole;
  test::Proxy proxy(server().port());
  Client client("zookeeper://" + proxy.address() + "," + hole.address() + "?prefix=" + new_prefix());
  const Hold hold = Mutex(client, "name", {.ttl = 6s}).acquire();
  for (int round = 0; round < 3; ++round) {
    const auto renewals = client.health().renewals;
    proxy.reset();
    ASSERT_TRUE(test::eventually([&] { return client.health().renewals >= renewals + 2 || !hold.valid(); }));
    ASSERT_TRUE(hold.valid()) << round;
  }
}

TEST(ZookeeperServers, SilenceIsSaidToBeSilence) {
  const BlackHole first;
  const BlackHole second;
  Client client("zookeeper://" + first.address() + "," + second.address(), {.connect_timeout = 2s});
  const auto error = test::error_of([&] { Mutex(client, "name").lock(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::unreachable);
  EXPECT_NE(std::string(error->what()).find("accepted no connection in time"), std::string::npos) << error->what();
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
