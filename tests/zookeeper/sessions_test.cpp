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

  /// Nothing can be waited for that does not happen.
  static void let_pass(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= end; }));
  }

  static constexpr std::chrono::milliseconds short_ttl = 1500ms;

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
  Hold goes = Mutex(client_, "goes", {.ttl = short_ttl}).acquire();
  EXPECT_EQ(sessions(), before + 1);
  let_pass(3 * short_ttl);
  EXPECT_EQ(sessions(), before + 1) << "not while it is used";
  EXPECT_TRUE(goes.valid());
  goes = {};
  EXPECT_TRUE(eventually([&] { return sessions() == before; }));
  EXPECT_TRUE(stays.valid());
  EXPECT_TRUE(Mutex(client_, "goes", {.ttl = short_ttl}).acquire().valid()) << "and opened again when it is wanted";
}

TEST_F(ZookeeperSessions, TheLastOneStays) {
  static_cast<void>(Mutex(client_, "name", {.ttl = short_ttl}).acquire());
  EXPECT_EQ(sessions(), 1);
  let_pass(3 * short_ttl);
  EXPECT_EQ(sessions(), 1);
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
