// Leaders in other processes, which die or stand still.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;

// EL01, with processes: a leader finds that nobody is inside, enters, and leaves.
TEST_P(SharedStoreConformance, ExactlyOneProcessLeads) {
  std::vector<ForkedChild> candidates;
  for (int number = 0; number < 5; ++number) {
    candidates.emplace_back([&](ChildReport& report) {
      Client client(url());
      Election election(client, "scheduler");
      Register inside(client, "inside");
      for (int round = 0; round < 8; ++round) {
        report.expect(election.try_campaign_for("me", 30s).has_value(), "is elected in time");
        report.expect(inside.add(1) == 1, "nobody else leads");
        report.expect(inside.add(-1) == 0, "nobody else leads");
        report.expect(election.resign() == Released::released, "resigns");
      }
    });
  }
  for (ForkedChild& candidate : candidates) EXPECT_TRUE(candidate.succeeds());
}

// EL03
TEST_P(SharedStoreConformance, AKilledLeaderIsReplaced) {
  ForkedChild leader([&](ChildReport& report) {
    Client client(url());
    Election election(client, "scheduler", {.ttl = short_ttl()});
    election.campaign("dies");
    report.wait_to_be_killed();
  });
  Client client = open();
  Election election(client, "scheduler");
  ASSERT_TRUE(eventually([&] { return election.leader().has_value(); }));
  const Leader old = election.leader().value();
  EXPECT_EQ(old.value, "dies");
  EXPECT_FALSE(election.try_campaign_for("next", 0s));
  leader.kill();
  EXPECT_GT(election.campaign("next"), old.term);
  EXPECT_EQ(election.leader().value().value, "next");
}

// EL03: nobody leads when the lease of a killed leader has ended.
TEST_P(SharedStoreConformance, AKilledLeaderLeadsNoLongerThanItsLease) {
  ForkedChild leader([&](ChildReport& report) {
    Client client(url());
    Election election(client, "scheduler", {.ttl = short_ttl()});
    election.campaign("dies");
    report.wait_to_be_killed();
  });
  Client client = open();
  Election election(client, "scheduler");
  ASSERT_TRUE(eventually([&] { return election.leader().has_value(); }));
  leader.kill();
  EXPECT_TRUE(eventually([&] { return !election.leader().has_value(); }));
}

// EL07, EL16: a leader that was stopped for longer than its lease finds out before it publishes anything.
TEST_P(SharedStoreConformance, ALeaderThatWasStoppedForTooLongOverwritesNothing) {
  ForkedChild leader([&](ChildReport& report) {
    Client client(url());
    Election election(client, "scheduler", {.ttl = short_ttl()});
    election.campaign("old");
    // Again, if a busy store does not answer in time.
    report.expect(eventually([&] { return !errc_of([&] { Register(client, "leads").set("yes"); }); }), "it is told");
    report.expect(eventually([&] { return !election.leads(); }), "it knows that it does not lead");
    report.expect(errc_of([&] { election.proclaim("still old"); }) == Errc::lost, "it may not publish");
    report.expect(election.hold()->state() == HoldState::lost, "its hold is lost");
  });
  Client client = open();
  Election election(client, "scheduler");
  ASSERT_TRUE(Register(client, "leads").wait_for_change_for(0, test::patience));
  leader.pause();
  const Token term = election.campaign("new");
  leader.resume();
  EXPECT_TRUE(leader.succeeds());
  EXPECT_EQ(election.leader(), (Leader{"new", term}));
}

// EL04, with processes
TEST_P(SharedStoreConformance, AnObserverHearsOfLeadersInOtherProcesses) {
  constexpr int count = 4;
  std::vector<ForkedChild> leaders;
  for (int number = 0; number < count; ++number) {
    leaders.emplace_back([&, number](ChildReport& report) {
      Client client(url());
      Election election(client, "scheduler");
      Register(client, "go").wait_for_change(0);
      report.expect(election.try_campaign_for(std::to_string(number), 30s).has_value(), "is elected in time");
      report.expect(election.resign() == Released::released, "resigns");
    });
  }
  Client client = open();
  test::Recorder<Leader> heard;
  Election election(client, "scheduler");
  const Observation observation = election.observe([&](const Leader& leader) { heard.add(leader); });
  Register(client, "go").set("now");
  for (ForkedChild& leader : leaders) EXPECT_TRUE(leader.succeeds());
  ASSERT_TRUE(heard.reaches(count - 1));
  // The observation may begin after the first leader: then that one is not told.
  const auto all = heard.all();
  for (std::size_t at = 1; at < all.size(); ++at) EXPECT_GT(all[at].term, all[at - 1].term);
}

}  // namespace
}  // namespace holdfast::conformance
