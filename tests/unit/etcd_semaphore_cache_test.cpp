#include <gtest/gtest.h>

#include "backends/etcd/semaphore_cache.hpp"

namespace holdfast::etcd {
namespace {

const LockName name("name");

TEST(EtcdSemaphoreCache, KnowsNothingByItself) {
  SemaphoreCache cache;
  EXPECT_EQ(cache.find(name), nullptr);
  cache.has_joined(name);
  ASSERT_NE(cache.find(name), nullptr);
  EXPECT_FALSE(cache.find(name)->fits(1, 10)) << "others may stand there";
}

TEST(EtcdSemaphoreCache, KnowsWhatFits) {
  SemaphoreCache cache;
  cache.has_joined(name);
  cache.learn(name, 77, 10, 8);
  EXPECT_TRUE(cache.find(name)->fits(2, 10));
  EXPECT_FALSE(cache.find(name)->fits(3, 10));
  EXPECT_FALSE(cache.find(name)->fits(1, 11)) << "that must be refused, or the total has changed";
  cache.gave_back(name, 3);
  EXPECT_TRUE(cache.find(name)->fits(5, 10));
}

TEST(EtcdSemaphoreCache, ForgetsASemaphoreWithTheLastClaimOfTheClient) {
  SemaphoreCache cache;
  cache.has_joined(name);
  cache.has_joined(name);
  cache.learn(name, 77, 10, 8);
  cache.has_left(name);
  EXPECT_NE(cache.find(name), nullptr);
  cache.has_left(name);
  EXPECT_EQ(cache.find(name), nullptr);
  cache.has_left(name);
  cache.gave_back(name, 1);
  EXPECT_EQ(cache.find(name), nullptr);
}

}  // namespace
}  // namespace holdfast::etcd
