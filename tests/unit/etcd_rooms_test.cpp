#include <gtest/gtest.h>

#include "backends/etcd/rooms.hpp"

namespace holdfast::etcd {
namespace {

const LockName name("name");

TEST(EtcdRooms, KnowNothingByThemselves) {
  Rooms rooms;
  EXPECT_EQ(rooms.find(name), nullptr);
  rooms.has_come(name);
  ASSERT_NE(rooms.find(name), nullptr);
  EXPECT_FALSE(rooms.find(name)->fits(1, 10)) << "others may stand there";
}

TEST(EtcdRooms, KnowWhatFits) {
  Rooms rooms;
  rooms.has_come(name);
  rooms.learn(name, 77, 10, 8);
  EXPECT_TRUE(rooms.find(name)->fits(2, 10));
  EXPECT_FALSE(rooms.find(name)->fits(3, 10));
  EXPECT_FALSE(rooms.find(name)->fits(1, 11)) << "that must be refused, or the total has changed";
  rooms.gave_back(name, 3);
  EXPECT_TRUE(rooms.find(name)->fits(5, 10));
}

TEST(EtcdRooms, AreForgottenWithTheLastClaimOfTheClient) {
  Rooms rooms;
  rooms.has_come(name);
  rooms.has_come(name);
  rooms.learn(name, 77, 10, 8);
  rooms.has_gone(name);
  EXPECT_NE(rooms.find(name), nullptr);
  rooms.has_gone(name);
  EXPECT_EQ(rooms.find(name), nullptr);
  rooms.has_gone(name);
  rooms.gave_back(name, 1);
  EXPECT_EQ(rooms.find(name), nullptr);
}

}  // namespace
}  // namespace holdfast::etcd
