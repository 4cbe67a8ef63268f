// Whatever is done to the tool, its guardian, its command or the store: never two commands in one room.

#include "faults/tool_campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>

#include "faults/sqlite_store.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ToolCampaignResult run_and_print(const ToolCampaignOptions& options) {
  std::cout << "seed " << options.seed << ", " << options.duration.count() << " ms\n";
  ToolCampaignResult result = run_tool_campaign(options);
  std::cout << result.summary();
  return result;
}

/// What users of one server live through, and of three: another leads. What else can happen to three of them is the
/// library's business alone (majority_test.cpp).
constexpr std::array harm_to_stores = {Sabotage::restart, Sabotage::pause, Sabotage::kill_leader,
                                       Sabotage::pause_leader};

class ToolUnderHarm : public testing::TestWithParam<StoreKind> {
 protected:
  ToolUnderHarm() {
    for (const Sabotage sabotage : GetParam().sabotages) {
      if (std::ranges::count(harm_to_stores, sabotage) > 0) sabotages.push_back(sabotage);
    }
  }
  const std::unique_ptr<Store> store = GetParam().make();
  std::vector<Sabotage> sabotages;
};

TEST_P(ToolUnderHarm, NeverLetsTwoCommandsRun) {
  ToolCampaignOptions options = ToolCampaignOptions::from_environment(*store);
  options.sabotages = sabotages;
  const ToolCampaignResult result = run_and_print(options);
  EXPECT_THAT(result.shortcomings(), IsEmpty()) << "the run is invalid";
  EXPECT_THAT(result.surprises, IsEmpty());
  EXPECT_THAT(result.violations, IsEmpty()) << testing::PrintToString(result.story);
}

INSTANTIATE_TEST_SUITE_P(Store, ToolUnderHarm, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

/// Where the store notices at once that a tool has died, the next one comes as soon as it can.
TEST(ToolUnderKills, NeverLetsTwoCommandsRun) {
  SqliteStore store;
  ToolCampaignOptions options = ToolCampaignOptions::from_environment(store);
  options.only_kills_tools = true;
  options.least_kills = options.duration >= 60s ? 500 : 10;
  const ToolCampaignResult result = run_and_print(options);
  EXPECT_GE(result.count(ToolHarm::kill_tool), options.least_kills) << "the run is invalid";
  EXPECT_THAT(result.surprises, IsEmpty());
  EXPECT_THAT(judge(result.notes), IsEmpty()) << "however slow the machine is";
}

TEST(ToolUnderKills, ControlCommandsThatMayOutliveTheToolAreNoticed) {
  SqliteStore store;
  ToolCampaignOptions options = ToolCampaignOptions::from_environment(store);
  options.only_kills_tools = true;
  options.duration = 3s;
  options.flags = {"--on-lost", "warn"};
  EXPECT_THAT(judge(run_and_print(options).notes), Not(IsEmpty()));
}

// --- the checker ----------------------------------------------------------------------------------------------------

class ToolDiary : public testing::Test {
 protected:
  static ToolNote enters(std::uint64_t token, milliseconds at, milliseconds taken = 0ms) {
    return {.room = "room", .token = token, .at = Moment(at), .taken = taken};
  }
  static ToolNote leaves(std::uint64_t token, milliseconds at) {
    return {.kind = ToolNote::Kind::leaves, .room = "room", .token = token, .at = Moment(at)};
  }
};

TEST_F(ToolDiary, OfTurnsOneAfterTheOtherIsGood) {
  EXPECT_THAT(judge({enters(1, 10ms), leaves(1, 20ms), enters(5, 20ms), enters(7, 40ms), leaves(7, 50ms)}), IsEmpty());
}

TEST_F(ToolDiary, OfSomebodyWhoLeavesTooLateIsNot) {
  const auto violations = judge({enters(1, 10ms), leaves(1, 31ms), enters(5, 30ms), leaves(5, 40ms)});
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_THAT(violations.front(), HasSubstr("token 1 (pid 0) left after 5 had entered"));
}

TEST_F(ToolDiary, OfARoomThatWasTakenIsNot) {
  const std::vector notes = {enters(1, 10ms), enters(5, 30ms, 3ms)};
  const auto violations = judge(notes);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_THAT(violations.front(), HasSubstr("taken for 3 ms"));
  EXPECT_THAT(judge(notes, {{Moment(25ms), Moment(27ms)}}), Not(IsEmpty()));
  EXPECT_THAT(judge(notes, {{Moment(25ms), Moment(28ms)}}), IsEmpty()) << "nobody ran meanwhile";
}

TEST_F(ToolDiary, OfARoomThatWasTakenWhenTheMachineStoodStillAtAnotherTimeIsNot) {
  const std::vector notes = {enters(1, 10ms), enters(5, 5000ms, 3ms)};
  EXPECT_THAT(judge(notes, {{Moment(100ms), Moment(900ms)}}), Not(IsEmpty())) << "long before";
  EXPECT_THAT(judge(notes, {{Moment(5004ms), Moment(5900ms)}}), Not(IsEmpty())) << "after it";
}

TEST_F(ToolDiary, OfTokensThatDoNotRiseIsNot) {
  EXPECT_THAT(judge({enters(5, 10ms), leaves(5, 20ms), enters(4, 30ms)}), Not(IsEmpty()));
  EXPECT_THAT(judge({enters(5, 10ms), leaves(5, 20ms), enters(5, 30ms)}), Not(IsEmpty()));
}

TEST_F(ToolDiary, IsReadAsItWasWritten) {
  const test::TemporaryDirectory folder;
  std::ofstream(folder.path() / "diary") << enters(5, 10ms, 3ms).line() << leaves(5, 20ms).line();
  const auto notes = read_diary(folder.path() / "diary");
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].line(), enters(5, 10ms, 3ms).line());
  EXPECT_EQ(notes[1].line(), leaves(5, 20ms).line());
  std::ofstream(folder.path() / "diary") << "nonsense\n";
  EXPECT_THROW(read_diary(folder.path() / "diary"), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::faults
