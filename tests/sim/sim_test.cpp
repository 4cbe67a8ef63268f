#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "sim/campaign.hpp"
#include "sim/shrink.hpp"

namespace holdfast::sim {
namespace {

TEST(Simulation, KeepsEveryPromise) {
  const CampaignOptions options = CampaignOptions::from_environment();
  const CampaignResult result = run_campaign(options);
  const Statistics& statistics = result.statistics;
  std::cout << "seeds from " << options.first_seed << ", " << options.threads << " threads\n"
            << to_text(statistics)
            << static_cast<std::uint64_t>(static_cast<double>(statistics.histories) / result.seconds)
            << " histories per second\n";
  ASSERT_FALSE(result.finding) << explain(*result.finding);
  if (options.histories < 100) return;  // a replay: these few need not have seen everything
  EXPECT_GT(statistics.grants, 0U);
  EXPECT_GT(statistics.local_turns, 0U);
  EXPECT_GT(statistics.shared, 0U);
  EXPECT_GT(statistics.permits, 0U);
  EXPECT_GT(statistics.downgrades, 0U);
  EXPECT_GT(statistics.moves, 0U);
  EXPECT_GT(statistics.delayed, 0U);
  EXPECT_GT(statistics.losses, 0U);
  EXPECT_GT(statistics.takeovers, 0U);
  EXPECT_GT(statistics.stale_releases, 0U);
  EXPECT_GT(statistics.stale_writes, 0U) << "without fencing nothing would have been damaged: the faults do not bite";
  EXPECT_GT(statistics.recoveries, 0U);
}

TEST(Simulation, PlansAreLargeEnough) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Plan plan = make_plan(seed);
    EXPECT_GE(plan.clients, 4U);
    EXPECT_GE(plan.names, 3U);
    EXPECT_GE(plan.turns.size(), 200U);
    EXPECT_GE(plan.faults.size(), 5U);
    EXPECT_EQ(plan.client_ppm.size(), plan.clients);
  }
}

TEST(Simulation, IsTheSameForTheSameSeed) {
  World first;
  World second;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::uint64_t hash = first.run(make_plan(seed)).hash();
    EXPECT_EQ(hash, second.run(make_plan(seed)).hash()) << "seed " << seed;
    EXPECT_NE(hash, second.run(make_plan(seed + 1)).hash()) << "seed " << seed;
  }
}

TEST(Simulation, MakesAFailingPlanSmaller) {
  const Mistakes mistakes{.store = {.release_by_name = true}};
  const CampaignResult result = run_campaign(CampaignOptions{}, mistakes, Rule::exclusion);
  ASSERT_TRUE(result.finding);
  const Plan plan = make_plan(result.finding->seed);
  const Plan small = shrink(plan, mistakes, Rule::exclusion);
  EXPECT_LT(small.turns.size(), plan.turns.size() / 4);
  World world;
  const auto violations = check(world.run(small, mistakes));
  EXPECT_TRUE(std::any_of(violations.begin(), violations.end(),
                          [](const Violation& each) { return each.rule == Rule::exclusion; }));
  EXPECT_NE(explain(*result.finding, mistakes).find("exclusion"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::sim
