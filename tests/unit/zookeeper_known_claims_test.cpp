#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backends/zookeeper/known_claims.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

class ZookeeperKnownClaims : public testing::Test, public Session::Owner {
 public:
  void node_changed(Session& /*session*/, const std::string& /*path*/) override {}
  void session_resumed(Session& /*session*/) override {}
  void session_ended(Session& /*session*/) override {}

 protected:
  static ClaimKey key(std::uint64_t id, LockKind kind = LockKind::lock) { return {LockName("name"), kind, {id, id}}; }
  SessionPtr session() { return std::make_shared<Session>(loop_, address_, 10s, *this); }
  KnownClaim claim(const std::string& line, std::uint32_t limit = 1) {
    return {.session = session_, .line = line, .node = "node", .mode = {.limit = limit}};
  }

  test::ManualLoop loop_;
  const Address address_ = {.hosts = {{"a", "1"}}};
  const SessionPtr session_ = session();
  KnownClaims known_;
};

TEST_F(ZookeeperKnownClaims, OfALockAndOfPermitsAreTwoEvenWithOneId) {
  EXPECT_NE(queue_name_of(key(1)), queue_name_of(key(1, LockKind::semaphore)));
  known_.note(key(1), claim("/lock"));
  EXPECT_EQ(known_.find(key(1, LockKind::semaphore)), nullptr);
  known_.note(key(1, LockKind::semaphore), claim("/permits", 3));
  known_.forget(key(1));
  EXPECT_EQ(known_.find(key(1)), nullptr);
  ASSERT_NE(known_.find(key(1, LockKind::semaphore)), nullptr);
  EXPECT_EQ(known_.find(key(1, LockKind::semaphore))->line, "/permits");
}

TEST_F(ZookeeperKnownClaims, SayWhetherAnyOfThemStandsInALine) {
  EXPECT_FALSE(known_.has_any_in("/line"));
  known_.note(key(1), claim("/line"));
  known_.note(key(2), claim("/line"));
  known_.note(key(2), claim("/line"));  // again
  known_.forget(key(1));
  EXPECT_TRUE(known_.has_any_in("/line"));
  known_.forget(key(2));
  EXPECT_FALSE(known_.has_any_in("/line"));
}

TEST_F(ZookeeperKnownClaims, WantNoOtherNodeThanTheirOwnUnlessARequestIsUnderWay) {
  EXPECT_FALSE(known_.may_want(key(1), "/line/node"));
  known_.doubt(key(1));  // it may be created at any time, under any number
  EXPECT_TRUE(known_.may_want(key(1), "/line/node"));
  known_.note(key(1), claim("/line"));
  EXPECT_TRUE(known_.may_want(key(1), "/line/node"));
  EXPECT_FALSE(known_.may_want(key(1), "/line/older")) << "the same claim, asked for twice";
  EXPECT_FALSE(known_.may_want(key(2), "/line/node"));
  known_.forget(key(1));
  EXPECT_FALSE(known_.may_want(key(1), "/line/node"));
  known_.leaves(key(1), *session_);
  EXPECT_TRUE(known_.may_want(key(1), "/line/node"));
  known_.has_left(key(1));
  EXPECT_FALSE(known_.may_want(key(1), "/line/node"));
}

TEST_F(ZookeeperKnownClaims, SayWhichTotalTheNewestOfThemHas) {
  known_.note(key(1, LockKind::semaphore), claim("/line", 3));
  EXPECT_TRUE(known_.has_permits_in("/line", 3));
  known_.note(key(2, LockKind::semaphore), claim("/line", 5));
  EXPECT_FALSE(known_.has_permits_in("/line", 3));
  EXPECT_TRUE(known_.has_permits_in("/line", 5));
}

TEST_F(ZookeeperKnownClaims, AreInDoubtUntilTheyAreNotedOrForgotten) {
  known_.doubt(key(1));
  known_.doubt(key(2));
  EXPECT_TRUE(known_.is_doubtful(key(1)));
  known_.note(key(1), claim("/line"));
  known_.forget(key(2));
  EXPECT_FALSE(known_.is_doubtful(key(1)));
  EXPECT_FALSE(known_.is_doubtful(key(2)));
}

TEST_F(ZookeeperKnownClaims, WatchNodesOfOneSession) {
  const SessionPtr other = session();
  known_.watch(*session_, "/line/a", key(1));
  known_.watch(*session_, "/line/a", key(1));
  known_.watch(*session_, "/line/a", key(2));
  known_.watch(*other, "/line/a", key(3));
  EXPECT_EQ(known_.take_watchers(*session_, "/line/b"), std::vector<ClaimKey>());
  EXPECT_EQ(known_.take_watchers(*session_, "/line/a"), (std::vector{key(1), key(2)}));
  EXPECT_EQ(known_.take_watchers(*session_, "/line/a"), std::vector<ClaimKey>()) << "a watch tells one change";
  known_.forget_watchers(*other);
  EXPECT_EQ(known_.take_watchers(*other, "/line/a"), std::vector<ClaimKey>());
}

TEST_F(ZookeeperKnownClaims, AreLeavingInTheSessionThatRemovesThem) {
  const SessionPtr other = session();
  known_.leaves(key(1), *session_);
  EXPECT_TRUE(known_.is_leaving(key(1), *session_));
  EXPECT_FALSE(known_.is_leaving(key(1), *other)) << "another session may be quicker";
  known_.has_left(key(1));
  EXPECT_FALSE(known_.is_leaving(key(1), *session_));
}

}  // namespace
}  // namespace holdfast::zookeeper
