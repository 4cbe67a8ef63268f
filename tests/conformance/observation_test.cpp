// Those who watch who leads.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/gate.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::eventually;
using test::Gate;
using test::Recorder;

std::function<void(const Leader&)> into(Recorder<Leader>& heard) {
  return [&heard](const Leader& leader) { heard.add(leader); };
}

// EL04
TEST_P(ElectionConformance, ObserversHearOfEveryLeaderInOrder) {
  constexpr std::size_t changes = 20;
  Client clients[] = {open(), open()};
  Client watching = open();
  Recorder<Leader> heard;
  Recorder<Leader> heard_by_candidate;
  Election watched(watching, "scheduler");
  Election candidate(clients[0], "scheduler");
  const Observation first = watched.observe(into(heard));
  const Observation second = candidate.observe(into(heard_by_candidate));
  std::vector<Leader> leaders;
  for (std::size_t change = 0; change < changes; ++change) {
    Election election(clients[change % 2], "scheduler");
    const std::string value = "leader " + std::to_string(change);
    leaders.push_back({value, election.campaign(value)});
    // No more than the store remembers between two looks, however slow the machine; the first, so that both look.
    if (change % 8 == 0) {
      ASSERT_TRUE(heard.reaches(change + 1) && heard_by_candidate.reaches(change + 1));
    }
    EXPECT_EQ(election.resign(), Released::released);
  }
  EXPECT_TRUE(heard.reaches(changes));
  EXPECT_TRUE(heard_by_candidate.reaches(changes));
  EXPECT_EQ(heard.all(), leaders);
  EXPECT_EQ(heard_by_candidate.all(), leaders);
}

TEST_P(ElectionConformance, ObserversHearOfEveryValueOnce) {
  Client client = open();
  Client other = open();
  Recorder<Leader> heard;
  Election watched(other, "scheduler");
  Election election(client, "scheduler");
  const Token term = election.campaign("one");
  const Observation observation = watched.observe(into(heard));
  ASSERT_TRUE(heard.reaches(1)) << "who leads already";
  for (const char* value : {"two", "two", "three", "three", "four"}) election.proclaim(value);
  ASSERT_TRUE(heard.reaches(4));
  election.proclaim("last");
  ASSERT_TRUE(heard.reaches(5));
  EXPECT_EQ(heard.all(),
            (std::vector<Leader>{{"one", term}, {"two", term}, {"three", term}, {"four", term}, {"last", term}}));
}

TEST_P(ElectionConformance, ALateObserverHearsOfNobodyWhoDoesNotLead) {
  Client client = open();
  Client other = open();
  Election election(client, "scheduler");
  election.campaign("gone");
  election.resign();
  Recorder<Leader> heard;
  Election watched(other, "scheduler");
  const Observation observation = watched.observe(into(heard));
  EXPECT_EQ(watched.leader(), std::nullopt);
  const Token term = election.campaign("here");
  ASSERT_TRUE(heard.reaches(1));
  EXPECT_EQ(heard.all(), (std::vector<Leader>{{"here", term}}));
}

TEST_P(ElectionConformance, AnObserverMayBlockAndAsk) {
  Client client = open();
  Election election(client, "scheduler");
  Gate gate;
  Recorder<std::string> asked;
  const Observation observation = election.observe([&](const Leader&) {
    gate.wait();
    asked.add(election.leader().value_or(Leader{"nobody"}).value);
  });
  election.campaign("one");
  election.proclaim("two");
  EXPECT_EQ(asked.size(), 0u);
  gate.open();
  ASSERT_TRUE(asked.reaches(1));
  EXPECT_EQ(asked.all().front(), "two");
}

TEST_P(ElectionConformance, ObserversAreCalledOneAtATime) {
  Client client = open();
  Election election(client, "scheduler");
  std::atomic<int> inside = 0;
  std::atomic<bool> two = false;
  Recorder<std::string> heard;
  const Observation observation = election.observe([&](const Leader& leader) {
    if (++inside > 1) two = true;
    std::this_thread::yield();
    heard.add(leader.value);
    --inside;
  });
  election.campaign("0");
  ASSERT_TRUE(heard.reaches(1));
  for (int number = 1; number < 15; ++number) election.proclaim(std::to_string(number));
  ASSERT_TRUE(heard.reaches(15));
  EXPECT_FALSE(two);
}

TEST_P(ElectionConformance, AnObservationMayBeDestroyedByItsOwnCallback) {
  Client client = open();
  Election election(client, "scheduler");
  Recorder<Leader> heard;
  std::optional<Observation> observation;
  Gate made;
  observation = election.observe([&](const Leader& leader) {
    made.wait();
    observation.reset();
    heard.add(leader);
  });
  made.open();
  election.campaign("one");
  ASSERT_TRUE(heard.reaches(1));
  for (const char* value : {"two", "three"}) election.proclaim(value);
  EXPECT_EQ(heard.size(), 1u);
  client.close();
  EXPECT_EQ(heard.size(), 1u);
}

TEST_P(ElectionConformance, DestroyingAnObservationWaitsForItsCallback) {
  Client client = open();
  Election election(client, "scheduler");
  Gate entered;
  Gate leave;
  std::atomic<bool> inside = false;
  std::atomic<int> calls = 0;
  auto observation = std::make_unique<Observation>(election.observe([&](const Leader&) {
    inside = true;
    ++calls;
    entered.open();
    leave.wait();
    inside = false;
  }));
  election.campaign("one");
  ASSERT_TRUE(entered.wait());
  election.proclaim("two");
  Background destruction([&](const std::stop_token&) {
    observation.reset();
    return !inside;
  });
  EXPECT_FALSE(destruction.finishes(200ms));
  leave.open();
  EXPECT_TRUE(destruction.take()) << "the callback had returned";
  const int called = calls;
  election.proclaim("three");
  client.close();
  EXPECT_EQ(calls, called);
}

TEST_P(ElectionConformance, AnObservationMayBeReplacedAndOutliveItsElection) {
  Client client = open();
  Recorder<Leader> first;
  Recorder<Leader> second;
  Observation observation;
  Election leading(client, "scheduler");
  {
    Election election(client, "scheduler");
    observation = election.observe(into(first));
    leading.campaign("one");
    ASSERT_TRUE(first.reaches(1));
    observation = election.observe(into(second));
    ASSERT_TRUE(second.reaches(1));
  }
  leading.proclaim("two");
  ASSERT_TRUE(second.reaches(2));
  EXPECT_EQ(first.size(), 1u);
  Observation moved = std::move(observation);
  leading.proclaim("three");
  EXPECT_TRUE(second.reaches(3));
}

TEST_P(ElectionConformance, ClosingEndsObservations) {
  Recorder<Leader> heard;
  std::optional<Observation> observation;
  {
    Client client = open();
    Election election(client, "scheduler");
    observation = election.observe(into(heard));
    election.campaign("one");
    ASSERT_TRUE(heard.reaches(1));
  }
  Client other = open();
  Election election(other, "scheduler");
  election.campaign("two");
  EXPECT_EQ(heard.size(), 1u);
  observation.reset();
}

TEST_P(ElectionConformance, ClosingWhileAnObserverIsCalledEndsBoth) {
  for (int round = 0; round < 10; ++round) {
    Recorder<Leader> heard;
    Client client = open();
    Client other = open();
    Election election(client, "scheduler");
    Election leading(other, "scheduler");
    const Observation observation = election.observe(into(heard));
    std::jthread chatter([&](const std::stop_token& stop) {
      leading.campaign("0");
      for (int number = 1; !stop.stop_requested(); ++number) leading.proclaim(std::to_string(number));
    });
    ASSERT_TRUE(heard.reaches(3));
    client.close();
    const auto size = heard.size();
    EXPECT_EQ(heard.size(), size);
  }
}

// EL08
TEST_P(ElectionConformance, AnObserverHearsOfALeaderThatWasReplacedByForce) {
  Client client = open();
  Client other = open();
  Recorder<Leader> heard;
  Election old(client, "scheduler");
  Election election(other, "scheduler");
  const Observation observation = election.observe(into(heard));
  const Token first = old.campaign("old");
  ASSERT_TRUE(heard.reaches(1));
  ASSERT_TRUE(other.evict("scheduler", LockKind::election));
  const Token second = election.campaign("new");
  ASSERT_TRUE(heard.reaches(2));
  EXPECT_EQ(heard.all(), (std::vector<Leader>{{"old", first}, {"new", second}}));
}

}  // namespace
}  // namespace holdfast::conformance
