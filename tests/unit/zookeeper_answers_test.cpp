#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "backends/zookeeper/answers.hpp"

namespace holdfast::zookeeper {
namespace {

TEST(ZookeeperAnswers, LeaveItOpenWhetherARequestHappenedWhoseConnectionOrSessionWasClosed) {
  for (const int code : {ZCONNECTIONLOSS, ZOPERATIONTIMEOUT, ZSESSIONMOVED, ZCLOSING, not_understood}) {
    EXPECT_EQ(outcome_of(code), Outcome::lost) << code;
    EXPECT_FALSE(was_heard(outcome_of(code))) << code;
  }
}

TEST(ZookeeperAnswers, TellThatTheSessionHasEnded) {
  constexpr auto unnamed = static_cast<ZOO_ERRORS>(-12);  // of servers, about a session that ended a moment ago
  for (const int code : {ZSESSIONEXPIRED, unnamed}) {
    EXPECT_EQ(outcome_of(code), Outcome::session_ended) << code;
    EXPECT_FALSE(was_heard(outcome_of(code))) << "a session that has ended is not alive";
  }
}

TEST(ZookeeperAnswers, OfEveryOtherKindShowThatTheSessionIsAlive) {
  EXPECT_EQ(outcome_of(ZOK), Outcome::ok);
  EXPECT_EQ(outcome_of(ZNONODE), Outcome::no_node);
  EXPECT_EQ(outcome_of(ZNODEEXISTS), Outcome::node_exists);
  EXPECT_EQ(outcome_of(ZBADVERSION), Outcome::other_version);
  EXPECT_EQ(outcome_of(ZNOTEMPTY), Outcome::not_empty);
  EXPECT_EQ(outcome_of(ZNOAUTH), Outcome::no_access);
  EXPECT_EQ(outcome_of(ZINVALIDACL), Outcome::failed);
  for (const int code : {ZOK, ZNONODE, ZNODEEXISTS, ZBADVERSION, ZNOTEMPTY, ZNOAUTH, ZINVALIDACL}) {
    EXPECT_TRUE(was_heard(outcome_of(code))) << code;
  }
}

TEST(ZookeeperAnswers, AboutANodeThatWasNotAskedForAreNotBelieved) {
  EXPECT_TRUE(is_path_for("/a/b", "/a/b", false));
  EXPECT_FALSE(is_path_for("/a/c", "/a/b", false));
  EXPECT_TRUE(is_path_for("/a/b-0000000007", "/a/b-", true));
  for (const char* created : {"/a/b-", "/a/b-7", "/a/b-000000000x", "/a/c-0000000007", "/a/b-00000000071", ""}) {
    EXPECT_FALSE(is_path_for(created, "/a/b-", true)) << created;
  }
}

TEST(ZookeeperAnswers, WithNamesThatCouldNotBeReadAreNotBelieved) {
  std::string first = "a";
  std::string second = "b";
  std::array<char*, 2> data = {first.data(), second.data()};
  std::vector<std::string> names;
  EXPECT_TRUE(read_names({.count = 2, .data = data.data()}, names));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(read_names({.count = 0, .data = nullptr}, names));
  EXPECT_TRUE(names.empty());
  EXPECT_FALSE(read_names({.count = -1, .data = data.data()}, names));
  EXPECT_FALSE(read_names({.count = 2, .data = nullptr}, names));
  data[1] = nullptr;
  EXPECT_FALSE(read_names({.count = 2, .data = data.data()}, names));
}

TEST(ZookeeperAnswers, CountTheChildrenThatWereEverMade) {
  Stat stat = {};
  stat.cversion = 7;  // five made, two removed
  stat.numChildren = 3;
  stat.czxid = 11;
  stat.mzxid = 12;
  stat.ephemeralOwner = 13;
  const NodeStat read = stat_from(&stat);
  EXPECT_EQ(read.children_ever, 5);
  EXPECT_EQ(read.changes, 7);
  EXPECT_EQ(read.created, 11U);
  EXPECT_EQ(read.data_changed, 12U);
  EXPECT_EQ(read.owner, 13);
  EXPECT_EQ(stat_from(nullptr).created, 0U);
}

}  // namespace
}  // namespace holdfast::zookeeper
