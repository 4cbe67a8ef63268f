// The checker on hand-made histories: good ones pass, and each bad one breaks the rule it was made for.

#include "sim/checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/story.hpp"
#include "spi/claims.hpp"

namespace holdfast::sim {
namespace {

using Standing = spi::ClaimAnswer::Standing;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// --- good histories -------------------------------------------------------------------------------------------------

TEST(Checker, AcceptsHoldsThatFollowEachOther) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90).at(5).turn(What::releases, 0, 0, 90);
  story.at(5).by(1).enters(1).granted(1, 2, 95).at(20).turn(What::renewed, 1, 0, 150);
  story.at(150).turn(What::lost, 1, 0, 150).by(2).enters(2).granted(2, 3, 250).at(160).turn(What::releases, 2, 0, 250);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(Checker, AcceptsAHoldThatExpiredWhileItsClientWasPaused) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90, 0, true).at(50).client(What::paused);
  story.at(95).by(1).enters(1).granted(1, 2, 190).at(100).turn(What::releases, 1, 0, 190);
  story.at(300).by(0).client(What::resumed).turn(What::sampled, 0, static_cast<std::uint8_t>(HoldState::lost), 90);
  story.told(0, HoldState::lost).turn(What::lost, 0, 0, 90);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(Checker, AcceptsThatTheDeadCostOneLease) {
  Story story;
  story.at(0)
      .by(0)
      .asks(0, Standing::granted)
      .at(1)
      .by(1)
      .asks(1, Standing::waiting)
      .at(2)
      .by(2)
      .asks(2, Standing::waiting);
  story.at(3).by(0).client(What::crashed).by(1).client(What::crashed);
  story.at(102).by(2).enters(2).granted(2, 3, 200);
  EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(Checker, AcceptsThatAMessageThatIsLateBringsAClaimBack) {
  Story story;
  story.at(0).by(0).asks(0, Standing::granted).gives_back(0).claim(What::heard, 0, Request::release);
  story.at(30).claim(What::executed, 0, Request::acquire, Standing::granted);
  story.at(40).claim(What::executed, 0, Request::renew, Standing::granted);
  EXPECT_THAT(story.broken(), IsEmpty());
}

// --- holds and tokens -----------------------------------------------------------------------------------------------

TEST(Checker, SeesAnOverlapOfAMicrosecond) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90.001).at(90).by(1).enters(1).granted(1, 2, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::exclusion));
}

TEST(Checker, SeesAnOverlapWithAHoldThatWasRenewed) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90).at(30).turn(What::renewed, 0, 0, 130);
  story.at(100).by(1).enters(1).granted(1, 2, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::exclusion));
}

TEST(Checker, SeesAnOverlapWithAClientThatIsPausedOrDead) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90).at(2).client(What::crashed).at(80).by(1).enters(1).granted(1, 2, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::exclusion));
}

TEST(Checker, SeesATokenTwice) {
  Story story;
  story.bare_numbers();
  story.at(1).by(0).enters(0).granted(0, 7, 90).at(2).turn(What::releases, 0, 0, 90);
  story.at(3).by(1).enters(1).granted(1, 7, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::token_order));
}

TEST(Checker, SeesTokensThatFall) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 8, 90).at(2).turn(What::releases, 0, 0, 90);
  story.at(3).by(1).enters(1).granted(1, 7, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::token_order));
}

TEST(Checker, SeesAResourceThatAcceptsAnOlderToken) {
  Story story;
  story.at(1).by(0).writes(0, 512, true).at(2).by(1).writes(1, 256, true);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::fenced_writes));
}

TEST(Checker, SeesAValidHolderWhoseWriteIsRefused) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90).at(2).writes(0, 256, false);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::fenced_writes));
}

// --- answers --------------------------------------------------------------------------------------------------------

TEST(Checker, SeesASecondAnswer) {
  Story story;
  const auto busy = static_cast<std::uint8_t>(Errc::busy);
  story.at(1).enters(0).turn(What::answered, 0, busy).at(2).turn(What::answered, 0, busy);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::one_answer));
}

TEST(Checker, SeesAGrantAfterTheTimeout) {
  Story story;
  story.at(1)
      .enters(0)
      .at(9)
      .turn(What::answered, 0, static_cast<std::uint8_t>(Errc::timed_out))
      .at(10)
      .granted(0, 1, 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::one_answer));
}

TEST(Checker, SeesAGrantAfterACancel) {
  Story story;
  story.at(1).enters(0).at(2).turn(What::cancels, 0).granted(0, 1, 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::one_answer));
}

TEST(Checker, SeesACancelThatIsNotAnsweredAtOnce) {
  Story story;
  story.at(1)
      .enters(0)
      .at(2)
      .turn(What::cancels, 0)
      .at(3)
      .turn(What::answered, 0, static_cast<std::uint8_t>(Errc::cancelled));
  EXPECT_THAT(story.broken(), ElementsAre(Rule::prompt_answers));
}

TEST(Checker, SeesAnAnswerLongAfterTheDeadline) {
  Story story;
  story.at(1).enters(0, 100, at_ms(10)).at(60).turn(What::answered, 0, static_cast<std::uint8_t>(Errc::timed_out));
  EXPECT_THAT(story.broken(), ElementsAre(Rule::prompt_answers));
}

TEST(Checker, SeesATryThatWaits) {
  Story story;
  story.at(1).enters(0, 100, never, true).at(400).turn(What::answered, 0, static_cast<std::uint8_t>(Errc::busy));
  EXPECT_THAT(story.broken(), ElementsAre(Rule::prompt_answers));
}

TEST(Checker, SeesOneWhoJumpsTheLocalLine) {
  Story story;
  story.at(1).enters(0).at(2).enters(1).at(3).granted(1, 1, 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::local_order));
}

TEST(Checker, SeesARequestThatIsNeverAnswered) {
  Story story;
  story.at(1).enters(0).at(1000).client(What::ended);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::comes_to_an_end));
}

TEST(Checker, SeesAReleaseOfWhichNobodyHears) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90).at(2).turn(What::releases, 0, 1, 90).at(500).client(What::closed);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::one_answer));
}

TEST(Checker, SeesAReleaseThatIsSaidToBeConfirmedAndIsNot) {
  Story story;
  story.at(0).asks(0, Standing::granted).at(1).enters(0).granted(0, 1, 90).at(2).turn(What::releases, 0, 1, 90);
  story.claim(What::sent, 0, Request::release)
      .at(3)
      .turn(What::released, 0, static_cast<std::uint8_t>(Released::released));
  EXPECT_THAT(story.broken(), ElementsAre(Rule::honest_release));
}

// --- losing ---------------------------------------------------------------------------------------------------------

TEST(Checker, SeesALossThatIsLate) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90).at(90.001).turn(What::lost, 0, 0, 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Checker, SeesALossThatNobodyNotices) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90).at(200).client(What::crashed);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Checker, SeesAListenerWhoIsNotTold) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90, 0, true).at(90).turn(What::lost, 0, 0, 90).at(300).client(What::closed);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Checker, SeesAHoldThatLooksValidAfterAPause) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90).at(2).client(What::paused).at(100).client(What::resumed);
  story.turn(What::sampled, 0, static_cast<std::uint8_t>(HoldState::held), 90).turn(What::lost, 0, 0, 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Checker, SeesADeadHoldThatIsRenewed) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90).at(2).client(What::paused).at(100).client(What::resumed);
  story.turn(What::renewed, 0, 0, 120).at(110).turn(What::releases, 0, 0, 120);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::dead_is_dead));
}

TEST(Checker, SeesARiskWithoutAReason) {
  Story story;
  story.at(1).enters(0).granted(0, 1, 90, 0, true).at(2).told(0, HoldState::at_risk);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::risk_is_told));
}

TEST(Checker, SeesARiskThatNobodyIsToldOf) {
  Story story;
  story.at(0).asks(0, Standing::granted).at(1).enters(0).granted(0, 1, 90, 0, true);
  story.at(50).claim(What::failed, 0, Request::renew).at(60).turn(What::releases, 0, 0, 90);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::risk_is_told));
}

// --- lines ----------------------------------------------------------------------------------------------------------

TEST(Checker, SeesAClaimThatComesBackByARenewal) {
  Story story;
  story.at(0).asks(0, Standing::granted).gives_back(0).claim(What::heard, 0, Request::release);
  story.at(30).claim(What::executed, 0, Request::renew, Standing::granted);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::gone_is_gone));
}

TEST(Checker, SeesAGrantToAClaimThatWasGivenBack) {
  Story story;
  story.at(0).asks(0, Standing::waiting).gives_back(0).claim(What::heard, 0, Request::release);
  story.at(30).claim(What::store_granted, 0, Request::acquire);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::gone_is_gone));
}

TEST(Checker, SeesAClientThatAsksAgainForWhatItGaveBack) {
  Story story;
  story.at(0).asks(0, Standing::waiting).gives_back(0).at(9).claim(What::sent, 0, Request::acquire);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::gone_is_gone));
}

TEST(Checker, SeesAWaiterWhoIsForgotten) {
  Story story;
  story.at(0).by(0).enters(0).asks(0, Standing::granted).granted(0, 1, 90).at(1).by(1).asks(1, Standing::waiting);
  story.at(10).by(0).turn(What::releases, 0, 0, 90).gives_back(0);
  story.at(80).by(1).enters(1).granted(1, 2, 200);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::served_in_time));
}

TEST(Checker, SeesThatTwoDeadWaitersCostMoreThanOneLease) {
  Story story;
  story.at(0)
      .by(0)
      .asks(0, Standing::granted)
      .at(1)
      .by(1)
      .asks(1, Standing::waiting)
      .at(2)
      .by(2)
      .asks(2, Standing::waiting);
  story.at(3).by(0).client(What::crashed).by(1).client(What::crashed);
  story.at(200).by(2).enters(2).granted(2, 3, 300);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::served_in_time));
}

TEST(Checker, SeesLocalTurnsWithoutEndWhileAnotherClientWaits) {
  Story story;
  story.at(0).by(1).asks(1, Standing::waiting).at(1).by(0).enters(0).granted(0, 1, 90).enters(1);
  story.at(12.2).turn(What::releases, 0, 0, 90).granted(1, 1, 90, 1);
  EXPECT_THAT(story.broken(), ElementsAre(Rule::fair_turns));
}

TEST(Checker, AcceptsLateLocalTurnsWhileNobodyElseWaits) {
  Story story;
  story.at(1).by(0).enters(0).granted(0, 1, 90).enters(1);
  story.at(12.2).turn(What::releases, 0, 0, 90).granted(1, 1, 90, 1);
  EXPECT_THAT(story.broken(), IsEmpty());
}

// --- the end --------------------------------------------------------------------------------------------------------

TEST(Checker, SeesWhatAClientLeavesBehind) {
  for (const Leftover& left :
       {Leftover{.cells = 1}, Leftover{.timers = 1}, Leftover{.expectations = 1}, Leftover{.requests = 1}}) {
    EXPECT_THAT(Story().at(9).client(What::closed, 0, left.packed()).broken(), ElementsAre(Rule::nothing_left));
  }
}

TEST(Checker, SeesWhatTheStoreKeeps) {
  EXPECT_THAT(Story().at(9).client(What::ended, 0, 1).broken(), ElementsAre(Rule::nothing_left));
}

TEST(Checker, SeesAHistoryWithoutEnd) {
  EXPECT_THAT(Story().at(9).client(What::hung).broken(), Contains(Rule::comes_to_an_end));
}

}  // namespace
}  // namespace holdfast::sim
