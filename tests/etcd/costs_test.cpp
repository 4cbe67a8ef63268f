// What requests cost the server.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

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

/// How many transactions the server has executed. (Everything but leases and watches is one.)
long long transactions(const EtcdServer& server) {
  const std::string command = "curl --silent --max-time 10 http://127.0.0.1:" + server.port() + "/metrics";
  FILE* const pipe = popen(command.c_str(), "re");
  std::string text;
  std::array<char, 65536> buffer = {};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), count);
  pclose(pipe);
  long long sum = 0;
  for (std::size_t at = 0; (at = text.find("\ngrpc_server_started_total{grpc_method=\"Txn\"", at)) != std::string::npos;
       ++at) {
    sum += std::stoll(text.substr(text.find("} ", at) + 2));
  }
  return sum;
}

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
  const long long before = transactions(server);
  for (int i = 0; i < 50; ++i) mutex.acquire().release();
  EXPECT_LE(transactions(server) - before, 2 * 50 + 2);
}

TEST(EtcdCosts, AReleaseWakesOneOfManyWaiters) {
  const EtcdServer server;
  constexpr int waiters = 12;
  Client holder(server.url());
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Background<Hold>>> waiting;
  Hold hold = Mutex(holder, "name", {.ttl = 300s}).acquire();
  for (int i = 0; i < waiters; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(server.url()));
    waiting.push_back(std::make_unique<Background<Hold>>(
        [&client](std::stop_token stop) { return Mutex(client, "name", {.ttl = 300s}).acquire(stop); }));
    ASSERT_TRUE(eventually([&] { return holder.show("name")->waiters.size() == waiting.size(); }));
  }
  // Watches begin, and each of them is followed by a look.
  long long quiet = transactions(server);
  ASSERT_TRUE(eventually([&] {
    const long long now = transactions(server);
    const bool calm = now == quiet;
    quiet = now;
    test::eventually(300ms, [] { return false; });
    return calm;
  }));
  const long long before = transactions(server);
  hold.release();
  Hold next = waiting[0]->take();
  test::eventually(500ms, [] { return false; });
  // The deletion, a look by the one that it wakes, its renewal, perhaps another look at its own key.
  EXPECT_LE(transactions(server) - before, 5);
  for (int i = 1; i < waiters; ++i) {
    next.release();
    next = waiting[static_cast<std::size_t>(i)]->take();
  }
}

}  // namespace
}  // namespace holdfast::etcd_suite
