// What `id plan` recommends.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/ids/far_times.hpp"
#include "cli/ids/ids_json.hpp"
#include "cli/ids/plan.hpp"
#include "cli/tool.hpp"

namespace holdfast::cli {
namespace {

using ids::SnowflakeLayout;
using testing::HasSubstr;

constexpr std::chrono::sys_seconds now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);

TEST(IdPlan, KeepsToTheUsualLayoutIfThatIsEnough) {
  EXPECT_EQ(plan_layout({.rate = 1'000, .workers = 10, .years = 20}, now), SnowflakeLayout());
  EXPECT_EQ(plan_layout({.rate = 4'096'000, .workers = 1'024, .years = 60}, now), SnowflakeLayout());
  EXPECT_EQ(plan_layout({.rate = 1'000, .workers = 10, .years = 20, .js = true}, now), SnowflakeLayout::javascript());
}

/// Whether a layout has what was asked for.
void expect_to_suffice(const IdNeeds& needs) {
  const auto layout = plan_layout(needs, now);
  ASSERT_TRUE(layout) << needs.rate << " " << needs.workers << " " << needs.years;
  EXPECT_GE(layout->ids_per_second(), needs.rate);
  EXPECT_GE(layout->workers(), needs.workers);
  EXPECT_GE(layout->ends(), now + std::chrono::years(needs.years));
  EXPECT_LE(layout->bits(), needs.js ? 53 : 63);
}

TEST(IdPlan, MakesRoomForMore) {
  expect_to_suffice({.rate = 100'000'000, .workers = 10, .years = 20});
  expect_to_suffice({.rate = 1'000, .workers = 1'000'000, .years = 20});
  expect_to_suffice({.rate = 1, .workers = 1, .years = 200});
  expect_to_suffice({.rate = 4'000, .workers = 1'000, .years = 20, .js = true});
  for (const std::uint64_t rate : {1U, 999U, 1000U, 1001U, 100000U}) {
    for (const std::uint64_t workers : {1U, 2U, 3U, 1024U, 1025U}) {
      for (const int years : {1, 30, 100}) expect_to_suffice({.rate = rate, .workers = workers, .years = years});
    }
  }
}

TEST(IdPlan, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(plan_layout({.rate = 1'000'000'000, .workers = 1'000'000, .years = 100}, now));
  EXPECT_FALSE(plan_layout({.rate = 1'000'000, .workers = 1'024, .years = 50, .js = true}, now));
  const test::Finished finished = test::run(test::tool({"id", "plan", "--rate", "1000000000", "--workers", "1000000"}));
  EXPECT_EQ(finished.code, 78);
  EXPECT_THAT(finished.errors, HasSubstr("no layout of 63 bits"));
}

TEST(IdPlan, KnowsTheOddsOfCollisions) {
  EXPECT_NEAR(collision_odds(2'714'922'669'395'445'312.0, 122), 0.5, 0.3) << "the usual example: even odds";
  EXPECT_LT(collision_odds(1e12, 122), 1e-12);
  EXPECT_EQ(collision_odds(1e9, 10), 1);
}

TEST(IdPlan, KnowsDaysThatTheSystemsClockDoesNot) {
  EXPECT_EQ(day_text(std::chrono::sys_days(std::chrono::year(9999) / 12 / 31)), "9999-12-31");
  EXPECT_EQ(time_text(std::chrono::sys_days(std::chrono::year(2527) / 6 / 23)), "2527-06-23");
  EXPECT_EQ(time_text(std::chrono::sys_days(std::chrono::year(2026) / 11 / 20)), "2026-11-20T00:00:00.000Z");
}

TEST(IdPlan, IsPrinted) {
  const test::Finished finished = test::run(test::tool({"id", "plan", "--js", "--years", "30"}));
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("layout:     41/5/7/ms/1735689600"));
  EXPECT_THAT(finished.output, HasSubstr("javascript: exact"));
  EXPECT_THAT(finished.output, HasSubstr("ends:       2094-09-07"));
  const auto json = nlohmann::json::parse(test::run(test::tool({"id", "plan", "--rate", "5", "--json"})).output);
  EXPECT_EQ(json["layout"], "41/10/12/ms/1735689600");
  EXPECT_EQ(json["workers"], 1'024);
}

TEST(IdPlan, ListsWhatEachKindPromises) {
  const auto kinds = all_traits();
  EXPECT_EQ(kinds.size(), 7u);
  const std::string text = text_of(kinds);
  for (const char* kind : {"uuid4", "uuid7", "snowflake", "segment", "stepped", "date", "auto"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + kind + " "));
  }
  const auto json = nlohmann::json::parse(test::run(test::tool({"id", "plan", "--json"})).output);
  EXPECT_EQ(json["kinds"].size(), 7u);
  EXPECT_EQ(json["kinds"][0]["order"], "none");
}

}  // namespace
}  // namespace holdfast::cli
