// Registers, latches, elections, runs and barriers on virtual time: each history runs the real operations of several
// clients over bad connections, writes down what their callers did and heard, and is checked when it has ended.

#include <gtest/gtest.h>

#include <iostream>

#include "sim/campaign.hpp"
#include "sim/operations_story.hpp"

namespace holdfast::sim {
namespace {

struct Primitive {
  std::string name;
  void (*run)(Story& story);
};

struct Outcome {
  Totals totals = {};
  std::uint64_t histories = 0;
  std::uint64_t seed = 0;
  std::string finding = {};
};

/// A tenth as many histories as the simulation of claims: each of these is for one primitive.
Outcome run_many(const Primitive& primitive, const Wrong& wrong) {
  const CampaignOptions options = CampaignOptions::from_environment();
  Outcome outcome;
  const std::uint64_t most = std::max<std::uint64_t>(options.histories / 10, 1);
  while (outcome.histories < most && outcome.finding.empty()) {
    outcome.seed = options.first_seed + outcome.histories++;
    Story story(outcome.seed, 4, wrong);
    primitive.run(story);
    outcome.totals.operations += story.totals.operations;
    outcome.totals.answered += story.totals.answered;
    outcome.totals.doubtful += story.totals.doubtful;
    outcome.totals.world.requests += story.world.counters.requests;
    outcome.totals.world.in_doubt += story.world.counters.in_doubt;
    outcome.totals.world.repeated += story.world.counters.repeated;
    outcome.totals.world.deaths += story.world.counters.deaths;
    outcome.totals.world.pauses += story.world.counters.pauses;
    if (!story.findings.empty()) outcome.finding = story.findings.front();
  }
  return outcome;
}

void PrintTo(const Primitive& primitive, std::ostream* out) { *out << primitive.name; }

class Operations : public testing::TestWithParam<Primitive> {};

TEST_P(Operations, KeepEveryPromise) {
  const Outcome outcome = run_many(GetParam(), {});
  const Totals& totals = outcome.totals;
  std::cout << GetParam().name << ": " << outcome.histories << " histories, " << totals.operations << " operations ("
            << totals.answered << " succeeded), " << totals.world.requests << " requests (" << totals.world.in_doubt
            << " in doubt, " << totals.world.repeated << " repeated), " << totals.world.deaths << " deaths, "
            << totals.world.pauses << " pauses\n";
  ASSERT_EQ(outcome.finding, "") << "seed " << outcome.seed << ", history " << outcome.histories;
  if (outcome.histories < 20) return;
  EXPECT_GT(totals.answered, 0U);
  EXPECT_GT(totals.world.in_doubt, 0U);
  EXPECT_GT(totals.world.repeated, 0U);
  EXPECT_GT(totals.world.deaths, 0U);
}

const Primitive registers{"Registers", &run_registers};
const Primitive latch{"Latch", &run_latch};
const Primitive election{"Election", &run_election};
const Primitive once{"Once", &run_once};
const Primitive barrier{"Barrier", &run_barrier};

INSTANTIATE_TEST_SUITE_P(Simulation, Operations, testing::Values(registers, latch, election, once, barrier),
                         [](const auto& primitive) { return primitive.param.name; });

struct OperationsControl {
  std::string name;
  Primitive primitive;
  Wrong wrong;
};

void PrintTo(const OperationsControl& control, std::ostream* out) { *out << control.name; }

class OperationsControls : public testing::TestWithParam<OperationsControl> {};

TEST_P(OperationsControls, AreCaughtWithinTheBudget) {
  const Outcome outcome = run_many(GetParam().primitive, GetParam().wrong);
  ASSERT_NE(outcome.finding, "") << outcome.histories << " histories, and nobody noticed";
  std::cout << GetParam().name << ": after " << outcome.histories << " histories: " << outcome.finding << '\n';
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, OperationsControls,
    testing::Values(OperationsControl{"WriteIgnoresTheVersion", registers, {.store = {.ignores_version = true}}},
                    OperationsControl{"AddIsRepeated", registers, {.store = {.repeats_adds = true}}},
                    OperationsControl{"LatchCountsAgainWhenInDoubt", latch, {.latch_retries_doubt = true}},
                    OperationsControl{"LeaderPublishesWithoutLooking", election, {.publishes_without_looking = true}},
                    OperationsControl{"RunsWithoutLooking", once, {.runs_without_looking = true}},
                    OperationsControl{"BarrierCountsTheDead", barrier, {.store = {.shows_the_dead = true}}}),
    [](const auto& control) { return control.param.name; });

}  // namespace
}  // namespace holdfast::sim
