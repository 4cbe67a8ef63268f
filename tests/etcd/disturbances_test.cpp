// What happens to keys, leases, watches and servers while locks are held and waited for.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "etcd/lease_of.hpp"
#include "etcd/metrics.hpp"
#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"
#include "support/proxy.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::EtcdServer;
using test::eventually;
using test::Proxy;

bool waits(const Client& client, const LockName& name, std::size_t count) {
  return eventually([&] {
    const auto status = client.show(name);
    return status && status->waiters.size() == count;
  });
}

/// Whether somebody comes to watch something.
bool is_watched(const EtcdServer& server) {
  return eventually([&] { return Metrics(server).watches() > 0; });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// The keys of a lock, the oldest first.
std::vector<std::string> keys_of(const EtcdServer& server, const std::string& name) {
  return lines_of(server.command({"get", "--prefix", "--keys-only", "--sort-by=CREATE", "holdfast/" + name + "/"}));
}

std::vector<std::string> leases_of(const EtcdServer& server) {
  std::vector<std::string> leases = lines_of(server.command({"lease", "list"}));
  if (!leases.empty()) leases.erase(leases.begin());  // a headline
  return leases;
}

TEST(EtcdDisturbances, ALostReplyLeavesOneKey) {
  const EtcdServer server;
  Proxy proxy(server.port());
  Client client("etcd://" + proxy.address());
  Client observer(server.url());
  Mutex(client, "warm").acquire().release();  // so that there is a lease
  proxy.lose_replies();
  Background locking([&](std::stop_token stop) { return Mutex(client, "name", {.ttl = 10s}).acquire(stop); });
  ASSERT_TRUE(eventually([&] { return observer.show("name").has_value(); })) << "it has arrived";
  proxy.reset();
  Hold hold = locking.take();
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(keys_of(server, "name").size(), 1U);
  EXPECT_EQ(hold.token().value() >> 8U, observer.show("name")->number);
  EXPECT_EQ(hold.release(), Released::released);
  EXPECT_EQ(keys_of(server, "name").size(), 0U);
}

TEST(EtcdDisturbances, AWaiterIsServedAfterItsConnectionWasCut) {
  const EtcdServer server;
  Proxy proxy(server.port());
  Client holder(server.url());
  Client waiter("etcd://" + proxy.address());
  for (int round = 0; round < 3; ++round) {
    Hold hold = Mutex(holder, "name", {.ttl = 60s}).acquire();
    Background next([&](std::stop_token stop) { return Mutex(waiter, "name", {.ttl = 60s}).acquire(stop).valid(); });
    ASSERT_TRUE(waits(holder, "name", 1));
    proxy.reset();
    hold.release();
    EXPECT_TRUE(next.take()) << round;
  }
}

TEST(EtcdDisturbances, AHolderWhoseLeaseIsRevokedIsTold) {
  const EtcdServer server;
  Client client(server.url());
  Hold hold = Mutex(client, "name", {.ttl = 60s}).acquire();
  ASSERT_TRUE(is_watched(server)) << "else it would hear of it at its next renewal";
  for (const std::string& lease : leases_of(server)) server.command({"lease", "revoke", lease});
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_FALSE(hold.valid());
  Hold again = Mutex(client, "name").acquire();
  EXPECT_GT(again.token(), hold.token());
}

TEST(EtcdDisturbances, AHolderWhoseKeyIsDeletedIsTold) {
  const EtcdServer server;
  Client client(server.url());
  Hold hold = Mutex(client, "name", {.ttl = 60s}).acquire();
  ASSERT_TRUE(is_watched(server));
  server.command({"del", "--prefix", "holdfast/name/"});
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
}

TEST(EtcdDisturbances, AWaiterWhoseKeyOrLeaseIsGoneJoinsAgain) {
  const EtcdServer server;
  Client holder(server.url());
  Client waiter(server.url());
  for (const bool lease : {false, true}) {
    Hold hold = Mutex(holder, "name", {.ttl = 60s}).acquire();
    Background next([&](std::stop_token stop) { return Mutex(waiter, "name", {.ttl = 30s}).acquire(stop); });
    ASSERT_TRUE(waits(holder, "name", 1));
    const std::string key = keys_of(server, "name").at(1);
    if (lease) {
      server.command({"lease", "revoke", lease_of(server, key)});
    } else {
      server.command({"del", key});
    }
    ASSERT_TRUE(eventually([&] {
      const auto keys = keys_of(server, "name");
      return keys.size() == 2 && keys[0] != key;
    })) << "it stands in the line again";
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(hold.release(), Released::released);
    EXPECT_TRUE(next.take().valid());
  }
}

TEST(EtcdDisturbances, ACompactionDisturbsNobody) {
  const EtcdServer server;
  Client holder(server.url());
  Client waiter(server.url());
  Hold hold = Mutex(holder, "name", {.ttl = 60s}).acquire();
  Background next([&](std::stop_token stop) { return Mutex(waiter, "name", {.ttl = 60s}).acquire(stop).valid(); });
  ASSERT_TRUE(waits(holder, "name", 1));
  for (int i = 0; i < 20; ++i) server.command({"put", "other", std::to_string(i)});
  server.command({"compact", std::to_string(server.revision()), "--physical"});
  hold.release();
  EXPECT_TRUE(next.take());
}

TEST(EtcdDisturbances, TheDeathOfAnyServerOfThreeIsSurvived) {
  EtcdServer cluster({.servers = 3});
  Client client(cluster.url());
  Client other(cluster.url());
  std::uint64_t last = 0;
  for (std::size_t server = 0; server < 3; ++server) {
    Hold hold = Mutex(client, "name", {.ttl = 20s}).acquire();
    EXPECT_GT(hold.token().value(), last);
    last = hold.token().value();
    Background next([&](std::stop_token stop) { return Mutex(other, "name", {.ttl = 20s}).acquire(stop).token(); });
    ASSERT_TRUE(waits(client, "name", 1));
    cluster.kill(server);
    EXPECT_TRUE(eventually([&] { return !test::error_of([&] { Mutex(client, "probe").acquire().release(); }); }));
    EXPECT_TRUE(hold.valid());
    hold.release();
    const Token token = next.take();
    EXPECT_GT(token.value(), last);
    last = token.value();
    cluster.start(server);
  }
}

TEST(EtcdDisturbances, WithoutAMajorityHoldersAreLostInTime) {
  EtcdServer cluster({.servers = 3});
  Client client(cluster.url());
  Hold hold = Mutex(client, "name", {.ttl = 3s}).acquire();
  cluster.kill(0);
  cluster.kill(1);
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  cluster.start(0);
  EXPECT_TRUE(eventually(
      [&] { return !test::error_of([&] { EXPECT_TRUE(Mutex(client, "name").try_acquire_for(test::patience)); }); }));
}

}  // namespace
}  // namespace holdfast::etcd_suite
