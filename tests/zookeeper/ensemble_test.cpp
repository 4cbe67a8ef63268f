// Three servers that agree with each other, and what may become of the one that a client is connected to.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/eventually.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::eventually;
using test::ZookeeperEnsemble;
using test::ZookeeperServer;

/// One for all cases of a process; all of its members run when a case begins and when it ends.
ZookeeperEnsemble& servers() {
  static ZookeeperEnsemble three({.breakable_links = true});
  return three;
}

class ZookeeperEnsembles : public testing::Test {
 protected:
  ZookeeperEnsembles() {
    EXPECT_TRUE(eventually([] { return leader() < ZookeeperEnsemble::size; }));
    EXPECT_TRUE(eventually([] { return member_with_a_session() == ZookeeperEnsemble::size; }));
  }

  static std::size_t leader() { return servers().leader(); }
  static std::size_t follower() { return (leader() + 1) % ZookeeperEnsemble::size; }

  std::string url() const { return servers().url() + "?prefix=" + prefix_; }
  std::string url(std::size_t member) const {
    return "zookeeper://127.0.0.1:" + servers().port(member) + "?prefix=" + prefix_;
  }

  /// Which member has a client's connection, if any has.
  static std::size_t member_with_a_session() {
    for (std::size_t i = 0; i < ZookeeperEnsemble::size; ++i) {
      if (ZookeeperServer::ask(servers().port(i), "cons").find("sid=") != std::string::npos) return i;
    }
    return ZookeeperEnsemble::size;
  }

  static bool is_renewed(const Client& client, std::uint64_t times) {
    const auto before = client.health().renewals;
    return eventually([&] { return client.health().renewals >= before + times; });
  }

 private:
  const std::string prefix_ = new_prefix();
};

TEST_F(ZookeeperEnsembles, ALockIsOneForTheClientsOfAllMembers) {
  for (std::size_t i = 0; i < ZookeeperEnsemble::size; ++i) {
    Client client(url(i));
    const Hold hold = Mutex(client, "name").acquire();
    for (std::size_t other = 0; other < ZookeeperEnsemble::size; ++other) {
      Client elsewhere(url(other));
      EXPECT_FALSE(Mutex(elsewhere, "name").try_acquire()) << i << " and " << other;
    }
  }
}

/// A client that knows all members and holds a lock, connected to a follower. (Without their leader the others have to
/// elect another one first, and that takes its time.)
class ZookeeperMember : public ZookeeperEnsembles {
 protected:
  void SetUp() override {
    while (member_ == leader()) {  // it begins anywhere
      hold_ = {};
      client_.reset();
      ASSERT_TRUE(eventually([] { return member_with_a_session() == ZookeeperEnsemble::size; }));
      client_.emplace(url());
      hold_ = Mutex(*client_, "name", {.ttl = 8s}).acquire();
      member_ = member_with_a_session();
      ASSERT_LT(member_, ZookeeperEnsemble::size);
    }
    token_ = hold_.token();
  }
  void expect_the_hold_is_kept() {
    EXPECT_TRUE(is_renewed(*client_, 3));
    EXPECT_TRUE(hold_.valid());
    EXPECT_EQ(hold_.token(), token_);
  }

  std::size_t member_ = leader();

 private:
  std::optional<Client> client_;
  Hold hold_;
  Token token_;
};

TEST_F(ZookeeperMember, ThatDiesIsLeftAndTheHoldIsKept) {
  servers().stop(member_);
  expect_the_hold_is_kept();
  servers().start(member_);
}

TEST_F(ZookeeperMember, ThatStandsStillIsLeftInTimeAndTheHoldIsKept) {
  servers().pause(member_);
  expect_the_hold_is_kept();
  servers().resume(member_);
}

/// A client that knows one member only, and somebody else who waits for its lock.
class ZookeeperLoneMember : public ZookeeperEnsembles {
 protected:
  /// The member is disturbed; the waiter is granted, and the holder knew before.
  template <class Disturb>
  void expect_the_holder_knows_first(Disturb disturb) {
    Client client(url(member_));
    Client other(url(leader()));
    const Hold hold = Mutex(client, "name", {.ttl = 2s}).acquire();
    Background waiter([&](std::stop_token stop) {
      Hold next = Mutex(other, "name", {.ttl = 1s}).acquire(stop);
      EXPECT_FALSE(hold.valid()) << "two holders";
      return next;
    });
    ASSERT_TRUE(eventually([&] {
      const auto status = other.show("name");
      return status && status->waiters.size() == 1;
    }));
    ASSERT_TRUE(is_renewed(client, 2)) << "its lease is proved from its renewals, not from its beginning";
    disturb();
    ASSERT_TRUE(waiter.finishes());
    EXPECT_GT(waiter.take().token(), hold.token());
  }

  const std::size_t member_ = follower();
};

TEST_F(ZookeeperLoneMember, AHolderKnowsFirstThatItsMemberStandsStill) {
  expect_the_holder_knows_first([&] { servers().pause(member_); });
  servers().resume(member_);
}

/// It goes on to answer whatever it can answer without its leader, until it notices.
TEST_F(ZookeeperLoneMember, AHolderKnowsFirstThatItsMemberIsCutOffFromTheLeader) {
  expect_the_holder_knows_first([&] { servers().cut_off(member_); });
  servers().rejoin(member_);
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
