// What elections, registers and multi-locks make of a server that goes away or stands still. For fixtures with a
// server.

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;
using test::Recorder;

// EL05
TEST_P(ServerConformance, AnObserverSurvivesARestart) {
  Client client = open();
  Client elsewhere = open();
  Recorder<std::string> seen;
  Election election(client, "chief", {.ttl = 5s});
  const Observation observation =
      Election(elsewhere, "chief").observe([&](const Leader& leader) { seen.add(leader.value); });
  election.campaign("before");
  ASSERT_TRUE(seen.reaches(1));
  server().stop();
  server().start();
  ASSERT_TRUE(eventually([&] { return !errc_of([&] { election.campaign("after"); }); }));
  EXPECT_TRUE(eventually([&] { return seen.all().back() == "after"; }));
}

/// Campaigns again and again, whatever goes wrong.
void keep_campaigning(Election& election, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (errc_of([&] { election.campaign("me", stop); })) continue;
    eventually(test::patience, [&] { return !election.leads() || stop.stop_requested(); });
  }
}

/// Whether both lead at one moment. (Each of them is asked at a time of its own, hence the first one twice.)
bool lead_together(const Election& one, const Election& other) {
  if (!one.leads()) return false;
  const Token term = one.hold()->token();
  const bool other_leads = other.leads();
  return other_leads && one.leads() && one.hold()->token() == term;
}

// EL14
TEST_P(ServerConformance, AServerThatStandsStillAgainAndAgainHasNoTwoLeaders) {
  Client first = open();
  Client second = open();
  Election one(first, "chief", {.ttl = steady_ttl()});
  Election other(second, "chief", {.ttl = steady_ttl()});
  std::atomic<bool> together = false;
  std::set<Token> terms;
  {
    const std::jthread campaign_one([&](const std::stop_token& stop) { keep_campaigning(one, stop); });
    const std::jthread campaign_other([&](const std::stop_token& stop) { keep_campaigning(other, stop); });
    const std::jthread watcher([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (lead_together(one, other)) together = true;
        std::this_thread::yield();
      }
    });
    for (const HoldState until : {HoldState::at_risk, HoldState::lost, HoldState::at_risk, HoldState::lost}) {
      ASSERT_TRUE(eventually([&] { return one.leads() || other.leads(); }));
      const auto leadership = (one.leads() ? one : other).hold();
      terms.insert(leadership->token());
      server().pause();
      EXPECT_TRUE(eventually([&] { return leadership->state() >= until; }));
      server().resume();
    }
    EXPECT_TRUE(eventually([&] { return one.leads() != other.leads(); })) << "one of them leads in the end";
  }
  EXPECT_FALSE(together);
  EXPECT_GE(terms.size(), 2U) << "a lost leadership must have ended a term";
}

// RG6
TEST_P(ServerConformance, AWriteThatIsNotAnsweredIsInDoubt) {
  Client client = open();
  Register value(client, "value");
  const std::uint64_t version = value.set("old");
  server().pause();
  const auto error = errc_of([&] { value.compare_and_set(version, "new"); });
  server().resume();
  EXPECT_EQ(error, Errc::in_doubt);
  Versioned now;
  ASSERT_TRUE(eventually([&] { return !errc_of([&] { now = value.get(); }); }));
  EXPECT_TRUE((now.value == "old" && now.version == version) || (now.value == "new" && now.version > version))
      << now.value;
}

// ML3
TEST_P(ServerConformance, AReleaseThatIsNotAnsweredKeepsNoOtherLock) {
  Client far = open();
  Client near("memory:near");
  MultiLock both({MultiLock::Part{far, "one"}, MultiLock::Part{near, "other"}}, {.ttl = steady_ttl()});
  MultiHold hold = both.acquire();
  server().pause();
  EXPECT_EQ(hold.release(), (std::vector{Released::in_doubt, Released::released}));
  EXPECT_TRUE(Mutex(near, "other").try_acquire());
  server().resume();
  Client another = open();
  EXPECT_TRUE(Mutex(another, "one").acquire().valid()) << "it is given back later";
}

}  // namespace
}  // namespace holdfast::conformance
