// A server that may throw locks away is pointed out.

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/redis_server.hpp"

namespace holdfast::redis_suite {
namespace {

using test::RedisServer;

/// What a client at `url` warns about while it takes a lock twice.
std::vector<std::string> warnings_at(const std::string& url) {
  std::mutex mutex;
  std::vector<std::string> warnings;
  Client client(url, {.log = [&](LogLevel level, std::string_view text) {
                  const std::scoped_lock lock(mutex);
                  if (level == LogLevel::warning) warnings.emplace_back(text);
                }});
  for (int round = 0; round < 2; ++round) EXPECT_EQ(Mutex(client, "name").acquire().release(), Released::released);
  client.close();  // what is logged has been told then
  const std::scoped_lock lock(mutex);
  return warnings;
}

RedisServer with_policy(const std::string& policy, const std::string& limit) {
  return RedisServer({.arguments = {"--maxmemory", limit, "--maxmemory-policy", policy}});
}

TEST(RedisEviction, IsWarnedAboutOnce) {
  const RedisServer server = with_policy("allkeys-lru", "100mb");
  for (const char* layout : {"queue", "plain"}) {
    const auto warnings = warnings_at(server.url() + "?layout=" + layout);
    ASSERT_EQ(warnings.size(), 1U) << layout;
    EXPECT_NE(warnings[0].find("allkeys-lru"), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find("noeviction"), std::string::npos) << warnings[0];
  }
}

TEST(RedisEviction, OfKeysThatExpireIsNoBetter) {
  const RedisServer server = with_policy("volatile-ttl", "100mb");
  EXPECT_EQ(warnings_at(server.url()).size(), 1U);
}

TEST(RedisEviction, IsNoConcernWhereItCannotHappen) {
  const RedisServer careful = with_policy("noeviction", "100mb");
  EXPECT_TRUE(warnings_at(careful.url()).empty());
  const RedisServer unlimited = with_policy("allkeys-lru", "0");
  EXPECT_TRUE(warnings_at(unlimited.url()).empty());
}

TEST(RedisEviction, IsNotKnownToWhoMayNotAsk) {
  const RedisServer server = with_policy("allkeys-lru", "100mb");
  ASSERT_EQ(server.command({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-info"}), "OK");
  EXPECT_TRUE(warnings_at("redis://app:secret@127.0.0.1:" + server.port()).empty());
}

}  // namespace
}  // namespace holdfast::redis_suite
