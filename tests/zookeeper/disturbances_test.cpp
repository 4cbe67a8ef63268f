// What networks and operators do while locks are held and waited for.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/proxy.hpp"
#include "support/recorder.hpp"
#include "zookeeper/hand.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::eventually;
using test::Proxy;

class ZookeeperDisturbances : public testing::Test {
 protected:
  std::string url() const { return server().url() + "?prefix=" + prefix_; }
  std::string url(const Proxy& proxy) const { return "zookeeper://" + proxy.address() + "?prefix=" + prefix_; }
  std::string line(const std::string& name) const { return "/" + prefix_ + "/" + name; }
  static bool waits(const Client& client, const LockName& name, std::size_t count) {
    return eventually([&] {
      const auto status = client.show(name);
      return status && status->waiters.size() == count;
    });
  }

  Hand hand_{server().port()};

 private:
  const std::string prefix_ = new_prefix();
};

TEST_F(ZookeeperDisturbances, ACreateWhoseReplyWasLostFindsItsOwnNode) {
  Proxy proxy(server().port());
  Client client(url(proxy));
  Client other(url());
  const Hold warm = Mutex(client, "warm").acquire();  // there is a connection
  for (int round = 0; round < 3; ++round) {
    const std::string name = "lost-" + std::to_string(round);
    ASSERT_TRUE(Mutex(other, name).acquire().valid());  // there is a path
    ASSERT_TRUE(eventually([&] { return hand_.children(line(name)).empty(); }));
    const std::size_t lost_before = proxy.lost();
    proxy.lose_replies();
    Background waiter([&](std::stop_token stop) { return Mutex(client, name).acquire(stop); });
    const bool created = eventually([&] { return hand_.children(line(name)).size() == 1; });
    const bool lost = eventually([&] { return proxy.lost() > lost_before; });  // the node is there before its reply is
    proxy.reset();
    const Hold hold = waiter.take();
    EXPECT_TRUE(created && lost && hold.valid());
    EXPECT_EQ(hand_.children(line(name)).size(), 1U) << "exactly one node of ours";
  }
}

TEST_F(ZookeeperDisturbances, AReleaseWhoseReplyWasLostIsOne) {
  Proxy proxy(server().port());
  Client client(url(proxy));
  Client other(url());
  Hold hold = Mutex(client, "mine").acquire();
  proxy.lose_replies();
  EXPECT_NE(hold.release(), Released::released);
  proxy.reset();
  EXPECT_TRUE(Mutex(other, "mine").try_acquire_for(test::patience));
}

TEST_F(ZookeeperDisturbances, ABrokenConnectionLosesNothing) {
  Proxy proxy(server().port());
  Client client(url(proxy));
  Client other(url());
  Hold hold = Mutex(client, "mine", {.ttl = 3s}).acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(client, "theirs").acquire(stop); });
  Hold theirs = Mutex(other, "theirs2").acquire();
  for (int round = 0; round < 3; ++round) {
    const auto renewals = client.health().renewals;
    proxy.reset();
    ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 1; }));
  }
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(waiter.take().valid());
  EXPECT_FALSE(Mutex(other, "mine").try_acquire());
}

// The server ends the session; the client hears of it only when it is back, but its holder knows before.
TEST_F(ZookeeperDisturbances, AHolderThatIsCutOffKnowsBeforeAnybodyElseIsGranted) {
  Proxy proxy(server().port());
  Client client(url(proxy));
  Client other(url());
  Hold hold = Mutex(client, "mine", {.ttl = 1s}).acquire();
  const Token token = hold.token();
  Background waiter([&](std::stop_token stop) {
    Hold next = Mutex(other, "mine").acquire(stop);
    EXPECT_FALSE(hold.valid()) << "two holders";
    return next;
  });
  ASSERT_TRUE(waits(other, "mine", 1));
  proxy.be_silent(true);
  const Hold next = waiter.take();
  EXPECT_GT(next.token(), token);
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  proxy.be_silent(false);
  proxy.reset();
  EXPECT_FALSE(Mutex(client, "mine", {.ttl = 1s}).try_acquire_for(3s)) << "a new session, behind the new holder";
  EXPECT_TRUE(next.valid());
}

TEST_F(ZookeeperDisturbances, AWaiterWhoseSessionEndedWaitsInAnother) {
  Proxy proxy(server().port());
  Client client(url(proxy));
  Client other(url());
  Hold hold = Mutex(other, "mine").acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(client, "mine", {.ttl = 1s}).acquire(stop); });
  ASSERT_TRUE(waits(other, "mine", 1));
  const std::string before = hand_.children(line("mine")).back();
  proxy.be_silent(true);
  ASSERT_TRUE(eventually([&] { return hand_.children(line("mine")).size() == 1; }));
  proxy.be_silent(false);
  proxy.reset();
  ASSERT_TRUE(eventually([&] { return hand_.children(line("mine")).size() == 2; }));
  EXPECT_NE(hand_.children(line("mine")).back(), before);
  hold = {};
  EXPECT_TRUE(waiter.take().valid());
  EXPECT_TRUE(eventually([&] { return hand_.children(line("mine")).empty(); })) << "and leaves nothing";
}

TEST_F(ZookeeperDisturbances, AHolderWhoseNodeWasDeletedHearsOfIt) {
  Client client(url());
  Hold hold = Mutex(client, "mine").acquire();
  hand_.remove(line("mine") + "/" + hand_.children(line("mine")).at(0));
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_TRUE(Mutex(client, "mine").acquire().valid());
}

TEST_F(ZookeeperDisturbances, AWaiterWhoseNodeWasDeletedJoinsAgain) {
  Client client(url());
  Client other(url());
  Hold hold = Mutex(other, "mine").acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop); });
  ASSERT_TRUE(waits(other, "mine", 1));
  const std::string before = hand_.children(line("mine")).back();
  hand_.remove(line("mine") + "/" + before);
  ASSERT_TRUE(eventually([&] {
    const auto now = hand_.children(line("mine"));
    return now.size() == 2 && now.back() != before;
  }));
  hold = {};
  EXPECT_TRUE(waiter.take().valid());
}

TEST_F(ZookeeperDisturbances, CuratorsWayToAskIsUnderstood) {
  Client client(url());
  test::Recorder<std::string> asked;
  Hold hold = Mutex(client, "mine").acquire();
  hold.on_release_request([&](const ReleaseRequest& request) { asked.add(request.reason); });
  hand_.set(line("mine") + "/" + hand_.children(line("mine")).at(0), "__REVOKE__");
  EXPECT_TRUE(asked.reaches(1));
  EXPECT_TRUE(hold.valid());
}

/// Longer than it takes until a lock counts as held for long, and much shorter than the times at which a client with a
/// lease of ten minutes looks whether something has come.
void hold_for_a_moment() {
  const auto end = std::chrono::steady_clock::now() + 200ms;
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= end; }));
}
constexpr auto at_once = 5s;

TEST_F(ZookeeperDisturbances, AHolderWithALongLeaseIsAskedAtOnce) {
  Client client(url());
  Client operator_(url());
  test::Recorder<std::string> asked;
  Hold hold = Mutex(client, "mine", {.ttl = 600s}).acquire();
  hold.on_release_request([&](const ReleaseRequest& request) { asked.add(request.reason); });
  hold_for_a_moment();
  EXPECT_EQ(operator_.ask_to_release("mine", {.reason = "maintenance", .within = 60s}), 1U);
  EXPECT_TRUE(eventually(at_once, [&] { return asked.size() == 1; }));
  hand_.remove(line("mine") + "/" + hand_.children(line("mine")).at(0));
  EXPECT_TRUE(eventually(at_once, [&] { return hold.state() == HoldState::lost; }));
}

TEST_F(ZookeeperDisturbances, AHolderWhoseWatchWasNotAnsweredIsAskedAllTheSame) {
  Proxy proxy(server().port());
  Client client(url(proxy));
  test::Recorder<std::string> asked;
  for (const std::string name : {"a", "b", "c"}) {
    Hold hold = Mutex(client, name, {.ttl = 600s}).acquire();
    hold.on_release_request([&](const ReleaseRequest& request) { asked.add(request.reason); });
    const std::size_t lost = proxy.lost();
    proxy.lose_replies();  // among them the one to the watch, if it was not quicker
    EXPECT_TRUE(eventually([&] { return proxy.lost() > lost; }));
    proxy.reset();
    hold_for_a_moment();
    hand_.set(line(name) + "/" + hand_.children(line(name)).at(0), "__REVOKE__");
    EXPECT_TRUE(asked.reaches(1)) << name;
    asked.take();
  }
}

// --- what things cost -----------------------------------------------------------------------------------------------

std::string last_change() {
  const std::string text = server().ask("srvr");
  const std::size_t at = text.find("Zxid:");
  return text.substr(at, text.find('\n', at) - at);
}

TEST_F(ZookeeperDisturbances, ARefusedTryWritesNothing) {
  Client holder(url());
  Client client(url());
  const Hold hold = Mutex(holder, "mine", {.ttl = 600s}).acquire();
  EXPECT_FALSE(Mutex(client, "mine", {.ttl = 600s}).try_acquire());  // opens its session
  const std::string before = last_change();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(Mutex(client, "mine", {.ttl = 600s}).try_acquire());
  EXPECT_EQ(last_change(), before);
  EXPECT_TRUE(Mutex(client, "other", {.ttl = 600s}).try_acquire());
  EXPECT_NE(last_change(), before) << "the control";
}

TEST_F(ZookeeperDisturbances, APairIsAtMostACreateALookAndADelete) {
  constexpr long long rounds = 300;
  Client client(url());
  Mutex mutex(client, "mine", {.ttl = 600s});
  {
    const std::scoped_lock warm(mutex);
  }
  const auto requests = [] { return server().monitored("zk_packets_received"); };
  const long long before = requests();
  ASSERT_GE(before, 0);
  for (long long round = 0; round < rounds; ++round) const std::scoped_lock lock(mutex);
  const long long sent = requests() - before;
  EXPECT_GE(sent, rounds) << "the control; what replaces the claim before costs less (replacing_test.cpp)";
  EXPECT_LE(sent, 3 * rounds + rounds / 10) << "beside what a busy machine made late";
}

TEST_F(ZookeeperDisturbances, AReleaseWakesOneWaiter) {
  constexpr std::size_t count = 12;
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Background<bool>>> waiters;
  Client holder(url());
  Hold hold = Mutex(holder, "mine", {.ttl = 60s}).acquire();
  for (std::size_t i = 0; i < count; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(url()));
    waiters.push_back(std::make_unique<Background<bool>>(
        [&](std::stop_token stop) { return Mutex(client, "mine", {.ttl = 60s}).acquire(stop).valid(); }));
    ASSERT_TRUE(waits(holder, "mine", i + 1));
  }
  // All watches are placed when the last waiter shows up in the line; those that fire are counted by the server.
  const long long before = server().monitored("zk_sum_node_deleted_watch_count");
  ASSERT_GE(before, 0);
  hold = {};
  for (const auto& waiter : waiters) EXPECT_TRUE(waiter->take());
  ASSERT_TRUE(eventually([&] { return hand_.children(line("mine")).empty(); }));
  const long long fired = server().monitored("zk_sum_node_deleted_watch_count") - before;
  // Of each node that went, its own client and the next one.
  EXPECT_GE(fired, static_cast<long long>(count));
  EXPECT_LE(fired, static_cast<long long>(2 * count + 1));
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
