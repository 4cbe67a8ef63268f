// A client has one session for each length of lease that it uses.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;
using test::eventually;

class ZookeeperSessions : public testing::Test {
 protected:
  /// Those of earlier cases may still be on their way out.
  ZookeeperSessions() {
    EXPECT_TRUE(eventually([] { return sessions() == 0; }));
  }

  static long long sessions() { return server().monitored("zk_global_sessions"); }

  Client client_{server().url() + "?prefix=" + new_prefix()};
};

TEST_F(ZookeeperSessions, LocksOfOneTtlShareOne) {
  const Hold first = Mutex(client_, "first", {.ttl = 60s}).acquire();
  const auto before = sessions();
  const Hold second = Mutex(client_, "second", {.ttl = 60s}).acquire();
  EXPECT_EQ(sessions(), before);
  const Hold third = Mutex(client_, "third", {.ttl = 600s}).acquire();
  EXPECT_EQ(sessions(), before + 1) << "the control";
}

TEST_F(ZookeeperSessions, OneThatNobodyUsesAnyMoreIsClosed) {
  const Hold stays = Mutex(client_, "stays", {.ttl = 60s}).acquire();
  const auto before = sessions();
  Hold goes = Mutex(client_, "goes", {.ttl = 500ms}).acquire();
  EXPECT_EQ(sessions(), before + 1);
  // Not while it is used: three leases, as its renewals count them.
  const auto renewals = client_.health().renewals;
  ASSERT_TRUE(eventually([&] { return client_.health().renewals >= renewals + 9; }));
  EXPECT_EQ(sessions(), before + 1);
  EXPECT_TRUE(goes.valid());
  goes = {};
  EXPECT_TRUE(eventually([&] { return sessions() == before; }));
  EXPECT_TRUE(stays.valid());
  EXPECT_TRUE(Mutex(client_, "goes", {.ttl = 500ms}).acquire().valid()) << "and opened again when it is wanted";
}

TEST_F(ZookeeperSessions, TheLastOneStays) {
  Mutex(client_, "name", {.ttl = 500ms}).acquire();
  const auto before = sessions();
  Client other(server().url() + "?prefix=" + new_prefix());
  const Hold clock = Mutex(other, "clock", {.ttl = 500ms}).acquire();
  const auto renewals = other.health().renewals;
  ASSERT_TRUE(eventually([&] { return other.health().renewals >= renewals + 12; }));  // four leases
  EXPECT_EQ(sessions(), before + 1);
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
