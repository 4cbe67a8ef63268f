// What requests cost the server.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "etcd/metrics.hpp"
#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::EtcdServer;
using test::eventually;

TEST(EtcdCosts, ARefusedTryWritesNothing) {
  const EtcdServer server;
  Client holder(server.url());
  Client other(server.url());
  const Hold hold = Mutex(holder, "name", {.ttl = 60s}).acquire();
  const Hold permits = Semaphore(holder, "name", 3, {.ttl = 60s}).acquire(2);
  const long long before = server.revision();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(Mutex(other, "name").try_acquire());
    EXPECT_FALSE(SharedMutex(other, "name").try_acquire_shared());
    EXPECT_FALSE(Semaphore(other, "name", 3).try_acquire(2));
  }
  EXPECT_EQ(server.revision(), before);
}

TEST(EtcdCosts, AnUncontendedLockIsTwoTransactions) {
  const EtcdServer server;
  Client client(server.url());
  Mutex mutex(client, "name", {.ttl = 60s});
  mutex.acquire().release();
  const long long before = Metrics(server).transactions();
  for (int i = 0; i < 50; ++i) mutex.acquire().release();
  EXPECT_LE(Metrics(server).transactions() - before, 2 * 50 + 2);
}

TEST(EtcdCosts, PermitsThatAreKnownToBeFreeAreOneTransaction) {
  const EtcdServer server;
  Client client(server.url());
  Semaphore semaphore(client, "name", 100, {.ttl = 60s});
  std::vector<Hold> holds;
  holds.push_back(semaphore.acquire());
  const long long before = Metrics(server).transactions();
  for (int i = 0; i < 50; ++i) holds.push_back(semaphore.acquire());
  // And each hold that lasts for a tenth of a second is looked at once, when its watch begins.
  EXPECT_LE(Metrics(server).transactions() - before, 50 + 51 + 2);
}

TEST(EtcdCosts, AHandOffToAClientThatWasMetBeforeNeedsNoNewWatch) {
  const EtcdServer server;
  constexpr int rounds = 30;
  std::array<Client, 2> clients = {Client(server.url()), Client(server.url())};
  const auto hand_off_to = [&](Client& client, Hold& hold) {
    Background next([&](std::stop_token stop) { return Mutex(client, "name", {.ttl = 60s}).acquire(stop); });
    EXPECT_TRUE(eventually([&] { return !clients[0].show("name")->waiters.empty(); }));
    hold.release();
    hold = next.take();
  };
  Hold hold = Mutex(clients[0], "name", {.ttl = 60s}).acquire();
  for (int i = 1; i <= 4; ++i) hand_off_to(clients[static_cast<std::size_t>(i) % 2], hold);
  const long long before = Metrics(server).watch_requests();
  int slow = 0;
  for (int i = 1; i <= rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    hand_off_to(clients[static_cast<std::size_t>(i) % 2], hold);
    if (std::chrono::steady_clock::now() - begin > 50ms) ++slow;
  }
  // Whoever holds or waits for a tenth of a second watches its own key, which only a busy machine makes them do.
  EXPECT_LT(Metrics(server).watch_requests() - before, rounds + 2 * slow);
}

}  // namespace
}  // namespace holdfast::etcd_suite
