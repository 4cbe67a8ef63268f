#include <gtest/gtest.h>

#include "backends/redis/connection/eviction.hpp"

namespace holdfast::redis {
namespace {

TEST(RedisEviction, IsDangerousOnlyIfThereIsALimitAndAPolicy) {
  EXPECT_EQ(dangerous_eviction("# Memory\r\nmaxmemory:100\r\nmaxmemory_human:100B\r\nmaxmemory_policy:allkeys-lru\r\n"),
            "allkeys-lru");
  EXPECT_EQ(dangerous_eviction("maxmemory_policy:volatile-ttl\r\nmaxmemory:1"), "volatile-ttl");
  EXPECT_FALSE(dangerous_eviction("maxmemory:100\r\nmaxmemory_policy:noeviction\r\n"));
  EXPECT_FALSE(dangerous_eviction("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"));
}

TEST(RedisEviction, OfAServerThatSaysLittleIsNotGuessed) {
  for (const char* info : {"", "\r\n\r\n", "maxmemory", "maxmemory:5\r\n", "maxmemory_policy:allkeys-lru", "OK"}) {
    EXPECT_FALSE(dangerous_eviction(info)) << info;
  }
}

}  // namespace
}  // namespace holdfast::redis
