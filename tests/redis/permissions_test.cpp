// The least that a user must be allowed: what docs/backends/redis.md says, and nothing more.

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace holdfast::redis_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::eventually;
using test::RedisServer;

/// Creates the user of the page's line that begins with ACL SETUSER and this name. Its URL, for database 1.
std::string documented_user(const RedisServer& server, const std::string& name) {
  std::ifstream page(HOLDFAST_REDIS_PAGE);
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("ACL SETUSER " + name + " on >secret ")) continue;
    std::istringstream words(line);
    EXPECT_EQ(server.command({std::istream_iterator<std::string>(words), {}}), "OK");
    return "redis://" + name + ":secret@127.0.0.1:" + server.port() + "/1";
  }
  ADD_FAILURE() << "the page has no user " << name;
  return {};
}

void use_registers(Client& client, Client& second) {
  Register number(client, "number");
  EXPECT_EQ(number.add(5), 5);
  const Written written = number.compare_and_set(number.get().version, "7");
  EXPECT_TRUE(written);
  Background change([&](std::stop_token stop) {
    return Register(second, "number").wait_for_change(written.now.version, stop).value;
  });
  number.set("8");
  EXPECT_EQ(change.take(), "8");
}

TEST(RedisPermissions, TheDocumentedOnesSuffice) {
  const RedisServer server;
  const std::string url = documented_user(server, "app");
  Client client(url);
  Client second(url);
  Hold hold = Mutex(client, "lock").acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(second, "lock", {.ttl = 60s}).acquire(stop).valid(); });
  ASSERT_TRUE(eventually([&] { return client.show("lock")->waiters.size() == 1; }));
  ASSERT_TRUE(eventually([&] { return server.command({"PUBSUB", "CHANNELS"}) != ""; }));
  Client third(url);
  Background last([&](std::stop_token stop) { return Mutex(third, "lock", {.ttl = 60s}).acquire(stop).valid(); });
  ASSERT_TRUE(eventually([&] { return client.show("lock")->waiters.size() == 2; }));
  hold = {};
  EXPECT_TRUE(waiter.take());
  EXPECT_TRUE(last.take());
  const Hold permits = Semaphore(client, "pool", 3).acquire();
  const Hold more = Semaphore(second, "pool", 3).acquire();
  Hold book = SharedMutex(client, "book").acquire();
  book.downgrade();
  EXPECT_TRUE(SharedMutex(second, "book").try_acquire_shared());
  EXPECT_TRUE(client.evict("book"));
  EXPECT_FALSE(client.list().empty());
  Election election(client, "chief");
  election.campaign("first");
  EXPECT_EQ(Election(second, "chief").leader().value().value, "first");
  use_registers(client, second);
}

TEST(RedisPermissions, TheDocumentedOnesSufficeForThePlainLayout) {
  const RedisServer server;
  const std::string url = documented_user(server, "plainapp") + "?layout=plain";
  Client client(url);
  Client second(url);
  Hold hold = Mutex(client, "lock:report", {.ttl = 300ms}).acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(second, "lock:report").acquire(stop).valid(); });
  ASSERT_TRUE(eventually([&] { return client.show("lock:report")->waiters.size() == 1; }));
  const auto renewals = client.health().renewals;
  EXPECT_TRUE(eventually([&] { return client.health().renewals > renewals; }));
  EXPECT_TRUE(hold.valid());
  hold = {};
  EXPECT_TRUE(waiter.take());
  const Hold taken_away = Mutex(client, "lock:other").acquire();
  EXPECT_TRUE(second.evict("lock:other"));
  use_registers(client, second);
}

TEST(RedisPermissions, OtherLocksAreForbidden) {
  const RedisServer server;
  Client client(documented_user(server, "plainapp") + "?layout=plain");
  EXPECT_EQ(test::errc_of([&] { static_cast<void>(Mutex(client, "another").acquire()); }), Errc::access_denied);
}

}  // namespace
}  // namespace holdfast::redis_suite
