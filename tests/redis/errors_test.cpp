// What a server may complain about: a clear message, the right code, in time, and never a secret.

#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "holdfast/holdfast.hpp"
#include "redis/fake_server.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace holdfast::redis_suite {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::RedisServer;

/// What a lock says at this URL, if it says anything; and how long it takes.
std::optional<Error> complaint_at(const std::string& url) {
  const auto begin = steady_clock::now();
  std::optional<Error> error;
  {
    Client client(url, {.connect_timeout = 700ms, .close_timeout = 100ms});
    error = test::error_of([&] { Mutex(client, "name").lock(); });
  }
  EXPECT_LT(steady_clock::now() - begin, 5s);
  return error;
}

void expect_complaint(const std::string& url, Errc code, const std::string& hint) {
  const std::optional<Error> error = complaint_at(url);
  ASSERT_TRUE(error) << hint;
  EXPECT_EQ(error->errc(), code) << error->what();
  EXPECT_NE(std::string(error->what()).find(hint), std::string::npos) << error->what();
  EXPECT_EQ(std::string(error->what()).find("hunter2"), std::string::npos) << "a secret: " << error->what();
}

TEST(RedisErrors, AWrongPasswordIsDenied) {
  const RedisServer server({.arguments = {"--requirepass", "right"}, .password = "right"});
  const std::string place = "127.0.0.1:" + server.port();
  expect_complaint("redis://:hunter2@" + place, Errc::access_denied, "password");
  expect_complaint("redis://nobody:hunter2@" + place, Errc::access_denied, "password");
  expect_complaint("redis://" + place, Errc::access_denied, "password");
  EXPECT_FALSE(complaint_at("redis://:right@" + place));
  EXPECT_FALSE(complaint_at("redis://default:right@" + place + "/5"));
  EXPECT_FALSE(complaint_at(server.unix_url() + "?password=right"));
}

TEST(RedisErrors, APasswordThatNobodyWantsIsPointedOut) {
  const RedisServer server;
  expect_complaint("redis://:hunter2@127.0.0.1:" + server.port(), Errc::access_denied, "password");
}

TEST(RedisErrors, AMissingPermissionIsDenied) {
  const RedisServer server;
  server.command({"ACL", "SETUSER", "ann", "on", ">hunter2", "~*", "&*", "+ping"});
  expect_complaint("redis://ann:hunter2@127.0.0.1:" + server.port(), Errc::access_denied, "docs/backends/redis.md");
  server.command({"ACL", "SETUSER", "ann", "resetkeys", "~other:*", "+@all"});
  expect_complaint("redis://ann:hunter2@127.0.0.1:" + server.port(), Errc::access_denied, "docs/backends/redis.md");
}

TEST(RedisErrors, AMissingDatabaseIsPointedOut) {
  const RedisServer server;
  expect_complaint(server.url() + "/99", Errc::store_failed, "database");
}

TEST(RedisErrors, FullMemoryIsExhaustion) {
  const RedisServer server({.arguments = {"--maxmemory", "1"}});
  expect_complaint(server.url(), Errc::exhausted, "maxmemory");
}

TEST(RedisErrors, AReplicaCannotBeWritten) {
  const RedisServer server;
  server.command({"REPLICAOF", "127.0.0.1", "1"});
  expect_complaint(server.url(), Errc::unreachable, "primary");
  server.command({"CONFIG", "SET", "replica-serve-stale-data", "no"});
  expect_complaint(server.url(), Errc::unreachable, "primary");
}

TEST(RedisErrors, ABusyServerIsWaitedFor) {
  const RedisServer server({.arguments = {"--busy-reply-threshold", "50"}});
  std::thread hog([&] { server.command({"EVAL", "while true do end", "0"}); });
  ASSERT_TRUE(test::eventually([&] { return server.command({"PING"}).starts_with("ERROR BUSY"); }));
  expect_complaint(server.url(), Errc::unreachable, "script");
  Client client(server.url());
  Mutex mutex(client, "name");
  std::thread rescue([&] {
    std::this_thread::sleep_for(300ms);
    server.command({"SCRIPT", "KILL"});
  });
  EXPECT_TRUE(mutex.try_acquire_for(10s));
  rescue.join();
  hog.join();
}

TEST(RedisErrors, SomebodyElsesKeysArePointedOut) {
  const RedisServer server;
  for (const char* kind : {"l", "lc", "lo", "n"}) {
    server.command({"FLUSHALL"});
    for (int bucket = 0; bucket < 256; ++bucket) {
      constexpr char digits[] = "0123456789abcdef";
      const std::string tag = {digits[bucket / 16], digits[bucket % 16]};
      const std::string name = kind == std::string("n") ? "" : ":name";
      server.command({"LPUSH", "holdfast:{" + tag + "}:" + kind + name, "x"});
    }
    const std::optional<Error> error = complaint_at(server.url());
    if (kind == std::string("lc") || kind == std::string("lo")) continue;  // not looked at while nobody waits
    ASSERT_TRUE(error) << kind;
    EXPECT_EQ(error->errc(), Errc::store_failed) << error->what();
    EXPECT_NE(std::string(error->what()).find("prefix"), std::string::npos) << error->what();
  }
}

TEST(RedisErrors, AServerThatLoadsIsUnreachable) {
  const FakeServer server("-LOADING Redis is loading the dataset in memory\r\n");
  expect_complaint("redis://" + server.address(), Errc::unreachable, "loading");
}

TEST(RedisErrors, WhatIsNoRedisIsPointedOut) {
  for (const char* words : {"HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "\x15\x03\x01", "\r\n\r\n"}) {
    const FakeServer server(words);
    expect_complaint("redis://" + server.address(), Errc::store_failed, "protocol");
    expect_complaint("redis://:hunter2@" + server.address(), Errc::store_failed, "protocol");
  }
}

TEST(RedisErrors, LengthsAreNotBelieved) {
  for (const char* words : {"*2147483647\r\n", "$1073741824\r\n", "*3\r\n:1\r\n$1073741824\r\n"}) {
    const FakeServer server(words);
    expect_complaint("redis://" + server.address(), Errc::store_failed, "protocol");
  }
}

TEST(RedisErrors, AnswersThatMakeNoSenseAreNotBelieved) {
  for (const char* words : {"+OK\r\n", "*1\r\n:7\r\n", "*2\r\n:1\r\n:2\r\n", "*3\r\n:2\r\n:2\r\n:2\r\n", "*0\r\n",
                            "*5\r\n:2\r\n$1\r\nx\r\n:1\r\n:1\r\n:1\r\n", "$-1\r\n"}) {
    const FakeServer server(words);
    expect_complaint("redis://" + server.address(), Errc::store_failed, "makes no sense");
  }
}

TEST(RedisErrors, SilenceIsNotWaitedForLongerThanTheDeadline) {
  const FakeServer server("");
  const std::optional<Error> error = complaint_at("redis://" + server.address());
  ASSERT_TRUE(error);
  EXPECT_TRUE(error->errc() == Errc::unreachable || error->errc() == Errc::in_doubt) << error->what();
}

TEST(RedisErrors, NobodyThereIsUnreachable) {
  expect_complaint("redis://127.0.0.1:1", Errc::unreachable, "refused");
  expect_complaint("redis://no-such-host.invalid", Errc::unreachable, "no-such-host.invalid");
  expect_complaint("redis+unix:/nowhere/redis.sock", Errc::unreachable, "No such file");
  expect_complaint("redis+unix:/" + std::string(200, 'x'), Errc::bad_url, "longer than");
}

}  // namespace
}  // namespace holdfast::redis_suite
