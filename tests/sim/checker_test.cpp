// The checker on hand-made histories: good ones pass, and each bad one breaks the rule it was made for.

#include "sim/checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spi/claims.hpp"

namespace holdfast::sim {
namespace {

using Standing = spi::ClaimAnswer::Standing;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// A history, told step by step. Times are in milliseconds; everything is about the name 'a', by client `who`.
class Story {
 public:
  Story() {
    history_.clients = 4;
    history_.names = 2;
    history_.longest_delay = microseconds(1500);
    history_.connect_timeout = milliseconds(300);
    for (std::uint8_t client = 0; client < history_.clients; ++client) add({.what = What::opened, .client = client});
  }

  Story& at(double time) {
    now_ = moment(time);
    return *this;
  }
  Story& by(std::uint8_t client) {
    client_ = client;
    return *this;
  }
  /// As real threads write it down, up to 20 ms late.
  Story& not_exact() {
    history_.exact = false;
    history_.noise = milliseconds(20);
    history_.longest_lease = milliseconds(100);
    return *this;
  }
  Story& bare_numbers() {
    history_.local_turns = false;
    return *this;
  }

  Story& enters(std::uint32_t turn, std::uint32_t ttl = 100, Moment deadline = never, bool refuses = false) {
    return add({.until = deadline, .subject = turn, .length = ttl, .what = What::entered, .detail = refuses});
  }
  Story& granted(std::uint32_t turn, std::uint64_t number, double until, std::uint64_t local = 0,
                 bool listens = false) {
    return add({.until = moment(until),
                .value = history_.local_turns ? number << 8U | local : number,
                .subject = turn,
                .length = 100,
                .what = What::granted,
                .detail = listens});
  }
  Story& turn(What what, std::uint32_t turn, std::uint8_t detail = 0, double until = 0) {
    return add({.until = moment(until), .subject = turn, .what = what, .detail = detail});
  }
  Story& forgets(double until) {
    return add({.until = moment(until), .what = What::forgot, .client = Event::everybody});
  }
  Story& told(std::uint32_t turn, HoldState state) {
    return this->turn(What::told, turn, static_cast<std::uint8_t>(state));
  }
  Story& writes(std::uint32_t turn, std::uint64_t token, bool accepted) {
    return add({.value = token, .subject = turn, .what = What::wrote, .detail = accepted});
  }

  Story& claim(What what, std::uint32_t claim, Request request, Standing standing = Standing::granted,
               std::uint32_t lease = 100) {
    return add({.subject = claim,
                .length = lease,
                .what = what,
                .detail = static_cast<std::uint8_t>(request),
                .standing = static_cast<std::uint8_t>(standing)});
  }
  /// Sent, and executed half a millisecond later.
  Story& asks(std::uint32_t claim, Standing standing, std::uint32_t lease = 100) {
    this->claim(What::sent, claim, Request::acquire, standing, lease);
    now_ += microseconds(500);
    return this->claim(What::executed, claim, Request::acquire, standing, lease);
  }
  Story& gives_back(std::uint32_t claim) {
    this->claim(What::sent, claim, Request::release);
    now_ += microseconds(500);
    return this->claim(What::executed, claim, Request::release);
  }
  Story& client(What what, double until = 0, std::uint64_t value = 0) {
    return add({.until = moment(until), .value = value, .what = what});
  }

  std::vector<Rule> broken() const {
    std::vector<Rule> rules;
    for (const Violation& violation : check(history_)) rules.push_back(violation.rule);
    return rules;
  }

 private:
  static Moment moment(double time) { return Moment(Duration(static_cast<std::int64_t>(time * 1e6))); }

  Story& add(Event event) {
    event.at = now_;
    if (event.what != What::opened) event.client = client_;
    history_.events.push_back(event);
    return *this;
  }

  History history_;
  Moment now_ = {};
  std::uint8_t client_ = 0;
};

Moment at_ms(int time) { return Moment(milliseconds(time)); }

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

// --- histories that are not exact (tests/faults/recording_test.cpp has more)
// ------------------------------------------

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

// --- stores that have lost everything
// --------------------------------------------------------------------------------

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
