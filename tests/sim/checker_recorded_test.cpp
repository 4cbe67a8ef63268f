// The checker, tried on histories that are not exact, as real processes record them: what it excuses there, and what it
// still sees. (tests/faults/recording_test.cpp has more.)

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/checker.hpp"
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Checker, SeesAHoldThatIsValidAfterItsEnd) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90).at(50).turn(What::lost, 0, 0, 90);
  story.at(51).turn(What::sampled, 0, static_cast<std::uint8_t>(HoldState::held), 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::dead_is_dead));
}

TEST(Checker, AllowsForNoiseWhereAHistoryIsNotExact) {
  Story late;
  late.not_exact().at(1).enters(0, 100, at_ms(10));
  late.at(60).turn(What::answered, 0, static_cast<std::uint8_t>(Errc::timed_out));
  EXPECT_THAT(late.broken(), IsEmpty());
  Story too_late;
  too_late.not_exact().at(1).enters(0, 100, at_ms(10));
  too_late.at(80).turn(What::answered, 0, static_cast<std::uint8_t>(Errc::timed_out));
  EXPECT_THAT(too_late.broken(), ElementsAre(Rule::prompt_answers));
}

TEST(Checker, LetsTheDeadOnArrivalOverlapWithAnybody) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).at(2).by(1).enters(1);
  story.at(3).granted(1, 2, 90).at(50).by(0).granted(0, 1, 50);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(Checker, SeesAWaiterWhoIsForgottenWithoutKnowingItsClaim) {
  Story story;
  story.not_exact().at(0).by(0).enters(0).granted(0, 1, 90).at(1).by(1).enters(1);
  story.at(10).by(0).turn(What::releases, 0, 0, 90);
  story.at(10 + 34 + 6 + 5 + 20 + 5).by(1).granted(1, 2, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::served_in_time));
}

TEST(Checker, ExcusesAWaitWhileSomebodyStandsStill) {
  Story story;
  story.not_exact().at(0).by(0).enters(0).granted(0, 1, 90).at(1).by(1).enters(1);
  story.at(10).by(0).turn(What::releases, 0, 0, 90).by(2).client(What::paused);
  story.at(400).by(2).client(What::resumed).at(450).by(1).granted(1, 2, 500);
  EXPECT_THAT(story.broken(), IsEmpty());
}

// --- stores that have lost everything --------------------------------------------------------------------------------

TEST(Checker, LetsOthersInWhenTheStoreHasForgotten) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).granted(0, 1, 95).by(1).enters(1);
  story.at(10).forgets(110).at(12).by(1).granted(1, 5, 200).writes(1, 5 << 8, true);
  story.at(13).by(0).writes(0, 1 << 8, false).turn(What::releases, 0).enters(2).granted(2, 1, 95, 1);
  story.at(150).by(1).turn(What::releases, 1).by(0).turn(What::lost, 2).enters(3).granted(3, 6, 220);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(Checker, LetsAGrantBeLateThatTheStoreHasForgotten) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).by(1).enters(1).at(10).forgets(110);
  story.at(12).by(1).granted(1, 5, 100).at(13).by(0).granted(0, 4, 90);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(Checker, SeesTwoWhoGoOnAfterTheStoreHasForgotten) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).granted(0, 1, 150).by(1).enters(1);
  story.at(10).forgets(110).at(12).by(1).granted(1, 5, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::exclusion));
}

TEST(Checker, SeesASecondHolderLongAfterTheStoreHasForgotten) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).by(1).enters(1);
  story.at(10).forgets(110).at(12).by(1).granted(1, 5, 200).at(120).by(0).granted(0, 6, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::exclusion));
}

TEST(Checker, SeesAHolderWhoNeverHearsThatTheStoreHasForgotten) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).granted(0, 1, 300).at(10).forgets(110);
  story.at(111).turn(What::sampled, 0, static_cast<std::uint8_t>(HoldState::held), 300);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Checker, SeesTokensThatBeginAgainWhenTheStoreHasForgotten) {
  Story story;
  story.not_exact().at(1).by(0).enters(0).granted(0, 9, 95).by(1).enters(1);
  story.at(10).forgets(110).at(12).by(1).granted(1, 1, 100);
  story.turn(What::releases, 1).enters(2).granted(2, 2, 100);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::token_order, Rule::token_order));
}

}  // namespace
}  // namespace holdfast::sim
