// One of many leads.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;

bool somebody_waits(const Client& client, const LockName& name) {
  return eventually([&] {
    const auto status = client.show(name, LockKind::election);
    return status && !status->waiters.empty();
  });
}

// EL01, EL11
TEST_P(ElectionConformance, ExactlyOneOfFiveLeadsInEachOfAHundredRounds) {
  constexpr int rounds = 100;
  const Client observer = open();
  std::atomic<int> leading = 0;
  std::atomic<int> most = 0;
  std::mutex guard;
  std::vector<Token> terms;
  {
    std::vector<std::jthread> candidates;
    for (int number = 0; number < 5; ++number) {
      candidates.emplace_back([&, number] {
        Client client = open();
        Election election(client, "scheduler");
        for (int round = 0; round < rounds / 5; ++round) {
          const Token term = election.campaign("candidate " + std::to_string(number));
          if (++leading > 1) ++most;
          {
            const std::scoped_lock lock(guard);
            terms.push_back(term);
          }
          --leading;
          EXPECT_EQ(election.resign(), Released::released);
        }
      });
    }
  }
  EXPECT_EQ(most, 0) << "two led at once";
  ASSERT_EQ(terms.size(), static_cast<std::size_t>(rounds));
  for (std::size_t at = 1; at < terms.size(); ++at) EXPECT_GT(terms[at], terms[at - 1]);
}

// EL01, for candidates of one client
TEST_P(ElectionConformance, ExactlyOneOfTheCandidatesOfAClientLeads) {
  Client client = open();
  std::atomic<int> leading = 0;
  std::atomic<bool> two = false;
  {
    std::vector<std::jthread> candidates;
    for (int number = 0; number < 4; ++number) {
      candidates.emplace_back([&, number] {
        Election election(client, "scheduler");
        for (int round = 0; round < 10; ++round) {
          election.campaign(std::to_string(number));
          if (++leading > 1) two = true;
          EXPECT_EQ(election.leader().value_or(Leader()), (Leader{std::to_string(number), election.hold()->token()}));
          --leading;
          election.resign();
        }
      });
    }
  }
  EXPECT_FALSE(two);
}

// EL02
TEST_P(ElectionConformance, WhenTheLeaderResignsTheNextLeads) {
  Client client = open();
  Client other = open();
  Election election(client, "scheduler");
  Election next(other, "scheduler");
  const Token term = election.campaign("first");
  EXPECT_TRUE(election.leads());
  EXPECT_EQ(election.hold()->token(), term);
  Background campaign([&](std::stop_token stop) { return next.campaign("second", stop); });
  ASSERT_TRUE(somebody_waits(client, "scheduler"));
  EXPECT_FALSE(next.leads());
  EXPECT_EQ(election.resign(), Released::released);
  EXPECT_FALSE(election.leads());
  EXPECT_GT(campaign.take(), term);
  EXPECT_TRUE(next.leads());
  EXPECT_EQ(election.leader().value().value, "second");
  EXPECT_EQ(election.resign(), Released::not_held);
  EXPECT_EQ(errc_of([&] { static_cast<void>(election.hold()); }), Errc::not_held);
}

// EL04
TEST_P(ElectionConformance, EverybodyReadsWhatTheLeaderSays) {
  Client client = open();
  Client other = open();
  Election election(client, "scheduler");
  Election reader(other, "scheduler");
  const Token term = election.campaign("host-7:8080");
  EXPECT_EQ(reader.leader(), (Leader{"host-7:8080", term}));
  election.proclaim("host-7:9090");
  EXPECT_EQ(reader.leader(), (Leader{"host-7:9090", term}));
  election.proclaim("");
  EXPECT_EQ(reader.leader(), (Leader{"", term}));
  const std::string bytes("\0\n:\xff 17", 7);
  election.proclaim(bytes);
  EXPECT_EQ(reader.leader(), (Leader{bytes, term}));
}

// EL06
TEST_P(ElectionConformance, CampaigningAgainProclaims) {
  Client client = open();
  Election election(client, "scheduler");
  const Token term = election.campaign("one");
  EXPECT_EQ(election.campaign("two"), term);
  EXPECT_EQ(election.try_campaign_for("three", 0s), term);
  EXPECT_EQ(election.leader(), (Leader{"three", term}));
}

TEST_P(ElectionConformance, ASecondCampaignOfOneObjectIsRefused) {
  Client client = open();
  Client other = open();
  Election leader(other, "scheduler");
  leader.campaign("leads");
  Election election(client, "scheduler");
  Background campaign([&](std::stop_token stop) { return election.campaign("first", stop); });
  ASSERT_TRUE(somebody_waits(client, "scheduler"));
  EXPECT_EQ(errc_of([&] { election.campaign("second"); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { election.try_campaign_for("second", 1s); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { election.async_campaign("second", [](std::error_code, Token) {}); }), Errc::invalid_argument);
  campaign.cancel();
  EXPECT_EQ(campaign.error(), Errc::cancelled);
  leader.resign();
  EXPECT_NE(election.campaign("third"), Token()) << "the first one is over";
}

// EL07
TEST_P(ElectionConformance, AnOldLeaderKnowsAndOverwritesNothing) {
  Client client = open();
  Client other = open();
  Election old(client, "scheduler", {.ttl = steady_ttl()});
  Election election(other, "scheduler");
  const Token term = old.campaign("old");
  const auto leadership = old.hold();
  ASSERT_TRUE(other.evict("scheduler", LockKind::election));
  EXPECT_TRUE(eventually([&] { return leadership->stop_token().stop_requested(); }));
  EXPECT_FALSE(old.leads());
  EXPECT_EQ(old.hold()->state(), HoldState::lost);
  EXPECT_EQ(old.leader(), std::nullopt);
  EXPECT_EQ(errc_of([&] { old.proclaim("still me"); }), Errc::lost);
  EXPECT_EQ(old.leader(), std::nullopt);
  const Token next = election.campaign("new");
  EXPECT_GT(next, term);
  EXPECT_EQ(errc_of([&] { old.proclaim("still me"); }), Errc::lost);
  EXPECT_EQ(old.leader(), (Leader{"new", next}));
  election.resign();
  EXPECT_GT(old.campaign("again"), next) << "it may lead again";
  EXPECT_EQ(old.leader().value().value, "again");
}

// EL07: a leader that does not know yet that it was replaced.
TEST_P(ElectionConformance, AProclamationThatRacesWithAnEvictionNeverReplacesTheNewLeaders) {
  Client client = open();
  Client other = open();
  for (test::Rounds rounds(15); rounds.next();) {
    Election old(client, "scheduler");
    Election election(other, "scheduler");
    old.campaign("old");
    std::atomic<bool> enough = false;
    std::jthread chatter([&] {
      for (int number = 0; !enough; ++number) {
        if (errc_of([&] { old.proclaim("old " + std::to_string(number)); })) return;
      }
    });
    ASSERT_TRUE(other.evict("scheduler", LockKind::election));
    const Token term = election.campaign("new");
    for (int look = 0; look < 5; ++look) EXPECT_EQ(election.leader(), (Leader{"new", term}));
    enough = true;
  }
}

// EL12
TEST_P(ElectionConformance, WithoutALeaderThereIsNone) {
  Client client = open();
  Election election(client, "scheduler");
  EXPECT_EQ(election.leader(), std::nullopt);
  EXPECT_FALSE(election.leads());
  EXPECT_EQ(errc_of([&] { election.proclaim("nobody"); }), Errc::not_held);
  EXPECT_EQ(election.resign(), Released::not_held);
  election.campaign("somebody");
  election.resign();
  EXPECT_EQ(election.leader(), std::nullopt);
  EXPECT_EQ(election.name(), LockName("scheduler"));
}

// EL09
TEST_P(ElectionConformance, WorkThatThrowsGivesUpTheLeadership) {
  Client client = open();
  Client other = open();
  Election election(client, "scheduler");
  EXPECT_THROW(election.lead("bad", [](const Hold&) { throw std::runtime_error("bad work"); }), std::runtime_error);
  EXPECT_FALSE(election.leads());
  Election next(other, "scheduler");
  EXPECT_TRUE(next.try_campaign_for("next", test::patience));
  next.resign();
  bool worked = false;
  election.lead("good", [&](const Hold& hold) {
    worked = hold.valid() && election.leads() && next.leader().value().value == "good";
  });
  EXPECT_TRUE(worked);
  EXPECT_FALSE(election.leads());
  EXPECT_TRUE(eventually([&] { return next.leader() == std::nullopt; }));
}

TEST_P(ElectionConformance, ATimedCampaignGivesUp) {
  Client client = open();
  Client other = open();
  Election leader(other, "scheduler");
  leader.campaign("leads");
  Election election(client, "scheduler");
  EXPECT_EQ(election.leader().value().value, "leads");
  EXPECT_FALSE(election.try_campaign_for("late", 0s));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(election.try_campaign_for("late", 300ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 290ms);
  EXPECT_EQ(errc_of([&] { election.try_campaign_for("late", -1s); }), Errc::invalid_argument);
  EXPECT_EQ(leader.leader().value().value, "leads");
  EXPECT_TRUE(client.show("scheduler", LockKind::election).value().waiters.empty());
  leader.resign();
  EXPECT_TRUE(election.try_campaign_for("in time", 0s));
}

TEST_P(ElectionConformance, AStopEndsACampaign) {
  Client client = open();
  Client other = open();
  Election leader(other, "scheduler");
  leader.campaign("leads");
  Election election(client, "scheduler");
  Background campaign([&](std::stop_token stop) { return election.campaign("waits", stop); });
  ASSERT_TRUE(somebody_waits(other, "scheduler"));
  campaign.cancel();
  EXPECT_EQ(campaign.error(), Errc::cancelled);
  EXPECT_TRUE(eventually([&] { return other.show("scheduler", LockKind::election).value().waiters.empty(); }));
  std::stop_source stopped;
  stopped.request_stop();
  leader.resign();
  EXPECT_EQ(errc_of([&] { election.campaign("never", stopped.get_token()); }), Errc::cancelled);
  EXPECT_EQ(leader.leader(), std::nullopt);
}

// EL10
TEST_P(ElectionConformance, ClosingEndsCampaignsAndLeaderships) {
  Client client = open();
  Client other = open();
  Election never_used(client, "unused");
  Election leader(client, "scheduler");
  leader.campaign("leads");
  const auto leadership = leader.hold();
  Election waiting(client, "scheduler");
  Background campaign([&](std::stop_token stop) { return waiting.campaign("waits", stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  client.close();
  EXPECT_EQ(campaign.error(), Errc::closed);
  EXPECT_FALSE(leader.leads());
  EXPECT_TRUE(leadership->stop_token().stop_requested());
  EXPECT_EQ(Election(other, "scheduler").leader(), std::nullopt);
  for (Election* election : {&never_used, &leader, &waiting}) {
    EXPECT_EQ(errc_of([&] { election->campaign("late"); }), Errc::closed);
    EXPECT_EQ(errc_of([&] { static_cast<void>(election->leader()); }), Errc::closed);
    EXPECT_EQ(errc_of([&] { election->async_campaign("late", [](std::error_code, Token) {}); }), Errc::closed);
    EXPECT_EQ(errc_of([&] { election->campaign("late"); }), Errc::closed) << "and says so again";
    EXPECT_EQ(errc_of([&] { static_cast<void>(election->observe([](const Leader&) {})); }), Errc::closed);
  }
}

TEST_P(ElectionConformance, DestroyingAnElectionResigns) {
  Client client = open();
  Client other = open();
  Election next(other, "scheduler");
  {
    Election election(client, "scheduler");
    election.campaign("leads");
    EXPECT_FALSE(next.try_campaign_for("waits", 0s));
  }
  EXPECT_TRUE(next.try_campaign_for("leads", test::patience));
}

TEST_P(ElectionConformance, AnElectionIsAnotherThingThanALockOfItsName) {
  Client client = open();
  Election election(client, "same");
  const Hold lock = Mutex(client, "same").acquire();
  Register(client, "same").set("mine");
  EXPECT_TRUE(election.try_campaign_for("leads", 0s));
  EXPECT_EQ(Register(client, "same").get().value, "mine");
  EXPECT_TRUE(client.evict("same", LockKind::lock));
  EXPECT_TRUE(election.leads());
}

TEST_P(SemaphoreConformance, IsAnotherThingThanAnElectionOfItsName) {
  Client client = open();
  Election election(client, "same");
  const Hold permit = Semaphore(client, "same", 1).acquire();
  EXPECT_TRUE(election.try_campaign_for("leads", 0s));
  EXPECT_TRUE(permit.valid());
}

TEST_P(ElectionConformance, IsShownAsAnElectionWithItsName) {
  Client client = open({.label = "billing"});
  Election election(client, "jobs/scheduler", {.reason = "nightly"});
  const Token term = election.campaign("leads");
  EXPECT_EQ(election.hold()->name(), LockName("jobs/scheduler"));
  EXPECT_FALSE(client.show("jobs/scheduler", LockKind::lock));
  const LockStatus shown = client.show("jobs/scheduler", LockKind::election).value();
  EXPECT_EQ(shown.name, "jobs/scheduler");
  EXPECT_EQ(shown.kind, LockKind::election);
  EXPECT_EQ(shown.number, term.value() >> 8);
  ASSERT_EQ(shown.holders.size(), 1u);
  EXPECT_EQ(shown.holders[0].client.label, "billing");
  EXPECT_EQ(shown.holders[0].reason, "nightly");
}

TEST_P(ListingConformance, ListsElectionsByTheirNames) {
  Client client = open();
  Election election(client, "jobs/scheduler");
  const Token term = election.campaign("leads");
  const auto all = client.list("jobs/");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "jobs/scheduler");
  EXPECT_EQ(all[0].kind, LockKind::election);
  EXPECT_EQ(all[0].number, term.value() >> 8);
}

TEST_P(ElectionConformance, AValueThatIsTooLargeIsRefusedAndTheLeadershipGivenUp) {
  Client client = open();
  const std::size_t limit = client.traits().max_value_bytes;
  Election election(client, "scheduler");
  const std::string large(limit / 2, 'x');
  election.campaign(large);
  EXPECT_EQ(election.leader().value().value, large);
  const std::string larger(limit / 2 + 1, 'y');
  election.proclaim(larger);
  EXPECT_EQ(election.leader().value().value, larger);
  EXPECT_EQ(errc_of([&] { election.proclaim(std::string(limit + 1, 'z')); }), Errc::invalid_argument);
  EXPECT_TRUE(election.leads()) << "only the proclamation was refused";
  EXPECT_EQ(election.leader().value().value, larger);
  election.resign();
  EXPECT_EQ(errc_of([&] { election.campaign(std::string(limit + 1, 'z')); }), Errc::invalid_argument);
  EXPECT_FALSE(election.leads());
  EXPECT_EQ(election.leader(), std::nullopt);
  EXPECT_NE(election.campaign("small"), Token());
}

}  // namespace
}  // namespace holdfast::conformance
