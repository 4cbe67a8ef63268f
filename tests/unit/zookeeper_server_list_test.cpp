#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backends/zookeeper/server_list.hpp"

namespace holdfast::zookeeper {
namespace {

TEST(ZookeeperServerList, HasEachAddressOnce) {
  const auto list = ServerList::of_numbers({{"127.0.0.1", "2181"}, {"::1", "2182"}, {"127.0.0.1", "2181"}});
  EXPECT_EQ(list.error, 0);
  EXPECT_EQ(list.size(), 2U);
  const std::set<std::string> either = {"127.0.0.1:2181,::1:2182", "::1:2182,127.0.0.1:2181"};
  EXPECT_TRUE(either.contains(list.text)) << list.text;
}

TEST(ZookeeperServerList, OfNumbersRefusesNames) {
  const auto list = ServerList::of_numbers({{"127.0.0.1", "2181"}, {"localhost", "2181"}});
  EXPECT_NE(list.error, 0);
  EXPECT_EQ(list.size(), 0U);
}

TEST(ZookeeperServerList, ComesInEveryOrder) {
  std::set<std::string> seen;
  for (int attempt = 0; attempt < 1000 && seen.size() < 6; ++attempt) {
    seen.insert(ServerList::of_numbers({{"127.0.0.1", "1"}, {"127.0.0.2", "2"}, {"127.0.0.3", "3"}}).text);
  }
  EXPECT_EQ(seen.size(), 6U);
}

}  // namespace
}  // namespace holdfast::zookeeper
