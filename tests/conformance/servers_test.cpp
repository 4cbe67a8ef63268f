// A store whose server goes away and comes back. For fixtures with a server (Capabilities::has_server).

#include <gtest/gtest.h>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::errc_of;
using test::eventually;
using test::Recorder;

// M34: a hold survives a restart or says that it is lost; the next holder's renewals are its own in any case.
TEST_P(ServerConformance, ARestartIsSurvivedOrALoss) {
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = 5s}).acquire();
  const Token token = hold.token();
  server().stop();
  server().start();
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost || client.health().renewals > renewals; }));
  Client other = open();
  if (hold.valid()) {
    EXPECT_FALSE(Mutex(other, "mine").try_acquire());
    ASSERT_EQ(hold.release(), Released::released);
  }
  const Hold next = Mutex(other, "mine", {.ttl = steady_ttl()}).acquire();
  if (can().keeps_tokens) {
    EXPECT_GT(next.token(), token);
  }
  ASSERT_TRUE(eventually([&] { return other.health().renewals >= 3; }));
  EXPECT_TRUE(next.valid());
}

// M39
TEST_P(ServerConformance, TokensRiseAcrossARestartWhereTheStoreSaysSo) {
  Token before;
  {
    Client client = open();
    EXPECT_EQ(client.traits().durable_tokens, can().keeps_tokens);
    before = Mutex(client, "mine").acquire().token();
  }
  server().stop();
  server().start();
  Client client = open();
  const Token after = Mutex(client, "mine").acquire().token();
  if (can().keeps_tokens) {
    EXPECT_GT(after, before);
  }
}

// M46
TEST_P(ServerConformance, AnOutageIsARiskAndALossWhenItLasts) {
  Recorder<HoldState> states;
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  hold.on_change([&](HoldState state) { states.add(state); });
  server().stop();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_FALSE(hold.valid());
  // The last of several servers may still have answered when the first were down.
  EXPECT_TRUE(eventually([&] { return !states.all().empty() && states.all().back() == HoldState::lost; }));
  const std::vector<HoldState> all = states.all();
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(all.front(), HoldState::at_risk);
  EXPECT_EQ(all.at(all.size() - 2), HoldState::at_risk);
  EXPECT_EQ(std::ranges::count(all, HoldState::lost), 1);
  EXPECT_EQ(client.health().contact, Health::Contact::failing);
  EXPECT_GT(client.health().failed_renewals, 0u);
  server().start();
  EXPECT_FALSE(hold.valid()) << "dead is dead";
  client.close();
}

// M46
TEST_P(ServerConformance, AShortOutageIsARiskThatPasses) {
  Recorder<HoldState> states;
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = 10s}).acquire();
  hold.on_change([&](HoldState state) { states.add(state); });
  server().pause();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::at_risk; }));
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(client.health().at_risk, 1u);
  server().resume();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held; }));
  EXPECT_FALSE(hold.stop_token().stop_requested());
  client.close();
  const std::vector<HoldState> all = states.all();  // a busy machine may be late again: another risk that passes
  ASSERT_GE(all.size(), 3U);
  EXPECT_EQ(all.front(), HoldState::at_risk);
  EXPECT_EQ(all.at(1), HoldState::held);
  EXPECT_EQ(std::ranges::find(all, HoldState::lost), all.end() - 1) << "by closing";
}

// M53
TEST_P(ServerConformance, WithoutAServerACallSaysThatItIsUnreachable) {
  server().stop();
  Client client = open({.connect_timeout = 500ms});
  const auto begin = steady_clock::now();
  EXPECT_EQ(errc_of([&] { Mutex(client, "mine").lock(); }), Errc::unreachable);
  EXPECT_EQ(errc_of([&] { Mutex(client, "mine").try_lock(); }), Errc::unreachable);
  EXPECT_EQ(errc_of([&] { static_cast<void>(Mutex(client, "mine").try_acquire_for(100ms)); }), Errc::unreachable);
  EXPECT_EQ(errc_of([&] { static_cast<void>(client.show("mine")); }), Errc::unreachable);
  EXPECT_LT(steady_clock::now() - begin, 10s);
  EXPECT_EQ(make_error_code(Errc::unreachable), Condition::retry);
  server().start();
  EXPECT_TRUE(eventually([&] {
    bool granted = false;
    const auto error = errc_of([&] { granted = Mutex(client, "mine").try_acquire().has_value(); });
    return !error && granted;
  }));
}

// M54
TEST_P(ServerConformance, ACallWaitsForAServerThatComesUp) {
  server().stop();
  Client client = open({.connect_timeout = test::patience});
  Background waiter([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  server().start();
  EXPECT_TRUE(waiter.take().valid());
}

// M55
TEST_P(ServerConformance, EverybodyIsServedThoughTheServerDiesWhileTheyWait) {
  const ClientOptions patient = {.connect_timeout = test::patience};  // a server may take its time to come back
  Client holder = open(patient);
  Client one = open(patient);
  Client two = open(patient);
  Hold hold = Mutex(holder, "mine").acquire();
  Background first([&](std::stop_token stop) { return Mutex(one, "mine").acquire(stop).valid(); });
  Background second([&](std::stop_token stop) { return Mutex(two, "mine").acquire(stop).valid(); });
  ASSERT_TRUE(line_becomes(holder, "mine", 2));
  server().stop();
  server().start();
  hold = {};
  EXPECT_TRUE(first.take());
  EXPECT_TRUE(second.take());
}

}  // namespace
}  // namespace holdfast::conformance
