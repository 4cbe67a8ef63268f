// How many commands a lock costs, and what stays behind.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "redis/statistics.hpp"
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

std::vector<std::string> keys(const RedisServer& server) {
  std::istringstream lines(server.command({"KEYS", "*"}));
  return {std::istream_iterator<std::string>(lines), {}};
}

TEST(RedisCosts, AFreeLockIsOneRequestOfThreeCommandsAndItsReleaseOneOfTwo) {
  const RedisServer server;
  Client client(server.url());
  Mutex mutex(client, "name");
  ASSERT_EQ(mutex.acquire().release(), Released::released);  // the server knows the scripts from here on
  constexpr long rounds = 100;
  server.command({"CONFIG", "RESETSTAT"});
  for (long round = 0; round < rounds; ++round) ASSERT_EQ(mutex.acquire().release(), Released::released);
  EXPECT_EQ(counts(server), (Counts{{"evalsha", 2 * rounds},
                                    {"time", rounds},
                                    {"set", rounds},
                                    {"zadd", rounds},
                                    {"get", rounds},
                                    {"del", rounds}}));
  EXPECT_EQ(server.command({"PUBSUB", "CHANNELS"}), "") << "nobody waits, so nobody listens";
}

TEST(RedisCosts, ARefusedTryWritesNothing) {
  const RedisServer server;
  Client holder(server.url());
  Client other(server.url());
  const Hold hold = Mutex(holder, "name").acquire();
  EXPECT_FALSE(Mutex(other, "name").try_acquire());
  server.command({"CONFIG", "RESETSTAT"});
  EXPECT_FALSE(Mutex(other, "name").try_acquire());
  const Counts after = counts(server);
  EXPECT_EQ(after.at("evalsha"), 1);
  EXPECT_FALSE(after.contains("hset") || after.contains("zadd") || after.contains("publish"));
}

TEST(RedisCosts, LookingAtOneNameSearchesNothing) {
  const RedisServer server;
  Client client(server.url());
  const Hold hold = Mutex(client, "name").acquire();
  Election election(client, "chief");
  server.command({"CONFIG", "RESETSTAT"});
  EXPECT_TRUE(client.show("name"));
  EXPECT_FALSE(client.show("nobody's"));
  EXPECT_FALSE(election.leader());
  const Counts after = counts(server);
  EXPECT_FALSE(after.contains("scan") || after.contains("keys"));
  EXPECT_LE(after.at("evalsha"), 4);
  EXPECT_FALSE(client.list().empty());
  EXPECT_TRUE(counts(server).contains("scan")) << "only a listing does";
}

TEST(RedisCosts, AHandOverIsOneMessageHoweverManyWait) {
  const RedisServer server;
  Client holder(server.url());
  constexpr std::size_t crowd = 12;
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Background<bool>>> waiters;
  Hold hold = Mutex(holder, "name", {.ttl = 60s}).acquire();
  for (std::size_t i = 0; i < crowd; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(server.url(), ClientOptions{}));
    waiters.push_back(std::make_unique<Background<bool>>(
        [&client](std::stop_token stop) { return Mutex(client, "name", {.ttl = 60s}).acquire(stop).valid(); }));
    ASSERT_TRUE(eventually([&] { return holder.show("name")->waiters.size() == i + 1; }));
  }
  ASSERT_TRUE(eventually([&] {
    const std::string channels = server.command({"PUBSUB", "CHANNELS"});
    return static_cast<std::size_t>(std::count(channels.begin(), channels.end(), '\n')) >= crowd;
  }));
  server.command({"CONFIG", "RESETSTAT"});
  hold = {};
  for (const auto& waiter : waiters) EXPECT_TRUE(waiter->take());
  EXPECT_EQ(counts(server).at("publish"), static_cast<long>(crowd));
}

/// Clients that stand in the line of one name, the first of them holding.
class Line {
 public:
  explicit Line(const RedisServer& server) : server_(server), watcher_(server.url()) {}

  void join() {
    clients_.push_back(std::make_unique<Client>(server_.url()));
    ask(*clients_.back());
    EXPECT_TRUE(eventually([&] { return watcher_.show("name") && waiting() + 1 == clients_.size(); }));
    EXPECT_TRUE(eventually([&] { return listening() + 1 >= clients_.size(); })) << "all who wait listen";
  }

  /// Which commands it costs that the first one leaves.
  Counts leave() {
    Hold hold = holds_[left_++]->take();
    EXPECT_TRUE(becomes_quiet());
    server_.command({"CONFIG", "RESETSTAT"});
    EXPECT_EQ(hold.release(), Released::released);
    return counts(server_);
  }

  /// Which commands it costs that the one who left last comes back.
  Counts come_back() {
    EXPECT_TRUE(becomes_quiet());
    server_.command({"CONFIG", "RESETSTAT"});
    ask(*clients_[left_ - 1]);
    EXPECT_TRUE(eventually([&] { return counts(server_).contains("evalsha"); }));
    return counts(server_);
  }

 private:
  void ask(Client& client) {
    holds_.push_back(std::make_unique<Background<Hold>>(
        [&client](std::stop_token stop) { return Mutex(client, "name", {.ttl = 60s}).acquire(stop); }));
  }
  /// Who has begun to listen may look once more.
  bool becomes_quiet() const {
    Counts seen;
    auto since = std::chrono::steady_clock::now();
    return eventually([&] {
      const auto now = std::chrono::steady_clock::now();
      const Counts before = std::exchange(seen, counts(server_));
      if (seen != before) since = now;
      return now - since > 100ms;
    });
  }
  std::size_t waiting() { return watcher_.show("name")->waiters.size(); }
  std::size_t listening() const {
    const std::string channels = server_.command({"PUBSUB", "CHANNELS"});
    return static_cast<std::size_t>(std::count(channels.begin(), channels.end(), '\n'));
  }

  const RedisServer& server_;
  Client watcher_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Background<Hold>>> holds_;
  std::size_t left_ = 0;
};

TEST(RedisCosts, AHandOverInALineIsTenCommandsAndJoiningItNine) {
  const RedisServer server;
  Line line(server);
  for (int i = 0; i < 4; ++i) line.join();
  const Counts handed_over = {{"evalsha", 1}, {"get", 1},  {"time", 1}, {"zrange", 1}, {"hmget", 1},
                              {"zadd", 2},    {"zrem", 1}, {"hdel", 1}, {"hset", 1},   {"publish", 1}};
  EXPECT_EQ(line.leave(), handed_over);
  EXPECT_EQ(line.leave(), handed_over);
  EXPECT_EQ(line.come_back(), (Counts{{"evalsha", 1},
                                      {"time", 1},
                                      {"set", 1},
                                      {"get", 1},
                                      {"zrange", 1},
                                      {"hmget", 1},
                                      {"zrevrange", 1},
                                      {"hset", 1},
                                      {"zadd", 1},
                                      {"zcard", 1}}));
  EXPECT_EQ(line.leave(), handed_over);
  EXPECT_EQ(line.leave(), handed_over);
  EXPECT_FALSE(line.leave().contains("publish")) << "nobody is left who could hear it";
}

TEST(RedisCosts, NothingButTheCounterStays) {
  const RedisServer server;
  {
    Client client(server.url());
    static_cast<void>(Mutex(client, "lock").acquire());
    static_cast<void>(Semaphore(client, "pool", 3).acquire());
    Hold hold = SharedMutex(client, "book").acquire_shared();
    Client second(server.url());
    Background writer([&](std::stop_token stop) { return SharedMutex(second, "book").acquire(stop).valid(); });
    ASSERT_TRUE(eventually([&] { return client.show("book")->waiters.size() == 1; }));
    hold = {};
    EXPECT_TRUE(writer.take());
  }
  EXPECT_TRUE(eventually([&] {
    for (const std::string& key : keys(server)) {
      if (!key.ends_with(":n")) return false;
    }
    return true;
  }));
}

TEST(RedisCosts, EverythingButTheCounterExpires) {
  const RedisServer server;
  Client client(server.url());
  Client second(server.url());
  const Hold hold = Mutex(client, "lock").acquire();
  const Hold permits = Semaphore(client, "pool", 3).acquire();
  const Hold more = Semaphore(second, "pool", 3).acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(second, "lock").acquire(stop).valid(); });
  ASSERT_TRUE(eventually([&] { return client.show("lock")->waiters.size() == 1; }));
  for (const std::string& key : keys(server)) {
    const long left = std::stol(server.command({"PTTL", key}));
    if (key.ends_with(":n")) {
      EXPECT_EQ(left, -1) << key;
    } else {
      EXPECT_GT(left, 0) << key;
    }
  }
  waiter.cancel();
}

}  // namespace
}  // namespace holdfast::redis_suite
