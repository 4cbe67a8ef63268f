// The checker on hand-made recordings of processes: good ones pass, and each bad one breaks the rule it was made for.

#include "faults/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/error.hpp"

namespace holdfast::faults {
namespace {

using sim::Rule;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

Moment at_ms(double time) { return Moment(Duration(1'000'000'000 + static_cast<std::int64_t>(time * 1e6))); }

/// A recording, told step by step. Times are in milliseconds; everything is about one name; the lease is 100 ms, and
/// threads may be 50 ms late. Turn n is process n's n-th.
class Report {
 public:
  Report() {
    recording_.processes = 4;
    recording_.names = 1;
    recording_.ttl = milliseconds(100);
    recording_.noise = milliseconds(50);
    recording_.journals.resize(1);
    recording_.ended = at_ms(10'000);
    for (std::uint8_t slot = 0; slot < recording_.processes; ++slot) {
      recording_.lives.push_back({.slot = slot, .started = at_ms(0), .gone = at_ms(9000)});
    }
  }

  Report& by(std::size_t process) {
    process_ = process;
    return *this;
  }
  Testimony& life() { return recording_.lives[process_]; }
  Recording& recording() { return recording_; }

  Report& asks(std::uint32_t turn, double at, Moment until = never, bool refuses = false) {
    return note({.at = at_ms(at), .until = until, .turn = turn, .what = Noted::asks, .detail = refuses});
  }
  Report& answered(std::uint32_t turn, double at, Errc code) {
    return note({.at = at_ms(at), .turn = turn, .what = Noted::answered, .detail = static_cast<std::uint8_t>(code)});
  }
  /// Asks and is granted a moment later; the first look, then, shows how long it may count on it.
  Report& granted(std::uint32_t turn, double at, std::uint64_t token, double until) {
    asks(turn, at - 0.5);
    note({.at = at_ms(at), .value = token, .turn = turn, .what = Noted::granted, .detail = 1});
    return looks(turn, at, true, until);
  }
  Report& looks(std::uint32_t turn, double at, bool valid, double until = 0) {
    return note({.at = at_ms(at),
                 .after = at_ms(at + 0.001),
                 .until = valid ? at_ms(until) : at_ms(at),
                 .turn = turn,
                 .what = Noted::looked,
                 .detail = valid});
  }
  Report& told(std::uint32_t turn, double at) { return note({.at = at_ms(at), .turn = turn, .what = Noted::told}); }
  Report& releases(std::uint32_t turn, double at, Released outcome = Released::released) {
    note({.at = at_ms(at), .turn = turn, .what = Noted::releases, .detail = 1});
    return note(
        {.at = at_ms(at + 1), .turn = turn, .what = Noted::released, .detail = static_cast<std::uint8_t>(outcome)});
  }
  /// `from` and `to`: when the write was tried, and when the process knew what became of it.
  Report& writes(std::uint32_t turn, double from, double to, std::uint64_t token, bool accepted) {
    note({.at = at_ms(from), .value = token, .turn = turn, .what = Noted::writes});
    return note({.at = at_ms(to), .value = token, .turn = turn, .what = Noted::wrote, .detail = accepted});
  }
  Report& journal(std::uint64_t token, bool write) {
    recording_.journals[0].push_back({token, write});
    return *this;
  }
  Report& stopped(double from, double to) {
    life().pauses.push_back({at_ms(from), at_ms(to)});
    return *this;
  }
  Report& killed(double at) {
    life().killed = at_ms(at);
    life().gone = at_ms(at + 1);
    return *this;
  }

  std::vector<Rule> broken() const {
    std::vector<Rule> rules;
    for (const sim::Violation& violation : judge(recording_)) rules.push_back(violation.rule);
    return rules;
  }

 private:
  Report& note(const Note& note) {
    life().notes.push_back(note);
    return *this;
  }

  Recording recording_;
  std::size_t process_ = 0;
};

// --- good ones ------------------------------------------------------------------------------------------------------

TEST(Recording, AcceptsHoldsThatFollowEachOther) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).looks(0, 100, true, 180).releases(0, 150);
  report.by(1).granted(0, 151, 2, 240).looks(0, 245, false).told(0, 246).releases(0, 247, Released::not_held);
  report.by(2).granted(0, 241, 3, 330).releases(0, 250);
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, AcceptsTheNextHolderAsSoonAsTheFirstWasKilled) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).killed(20);
  report.by(1).granted(0, 20.5, 2, 118).releases(0, 50);
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, AcceptsAHoldThatWasDeadWhenItsUserHeardOfIt) {
  Report report;
  report.by(0).asks(0, 10).stopped(11, 300);
  report.by(1).granted(0, 150, 2, 240).looks(0, 230, true, 320).releases(0, 310);
  report.by(0).life().notes.push_back({.at = at_ms(301), .value = 1, .what = Noted::granted, .detail = 1});
  report.looks(0, 302, false).told(0, 310).releases(0, 320, Released::not_held);
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, AcceptsALateWriteThatIsRefused) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).stopped(20, 300).writes(0, 301, 302, 1, false);
  report.looks(0, 303, false).told(0, 304).releases(0, 305, Released::not_held);
  report.by(1).granted(0, 150, 2, 240).writes(0, 155, 156, 2, true).releases(0, 160);
  report.journal(1, false).journal(2, false).journal(2, true);
  EXPECT_THAT(report.broken(), IsEmpty());
}

// A thread may be slow to note what the resource did: only the resource knows the order.
TEST(Recording, TakesTheOrderOfWritesFromTheResource) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).writes(0, 20, 130, 1, true);
  report.looks(0, 131, false).told(0, 132).releases(0, 133, Released::not_held);
  report.by(1).granted(0, 110, 2, 200).writes(0, 115, 116, 2, true).releases(0, 120);
  report.journal(1, false).journal(1, true).journal(2, false).journal(2, true);
  EXPECT_THAT(report.broken(), IsEmpty());
}

// --- bad ones -------------------------------------------------------------------------------------------------------

TEST(Recording, SeesTwoHoldersAtOnce) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).releases(0, 60);
  report.by(1).granted(0, 59.9, 2, 150).releases(0, 70);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::exclusion));
}

TEST(Recording, SeesAHolderThatWasRenewedWhileAnotherHeld) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).looks(0, 160, true, 200).releases(0, 170);
  report.by(1).granted(0, 120, 2, 210).releases(0, 130);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::exclusion));
}

TEST(Recording, SeesAStoppedHolderWhoseLeaseWasGivenAwayTooEarly) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).stopped(20, 300);
  report.looks(0, 301, false).told(0, 302).releases(0, 303, Released::not_held);
  report.by(1).granted(0, 90, 2, 180).releases(0, 95);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::exclusion));
}

TEST(Recording, SeesTokensThatFall) {
  Report report;
  report.by(0).granted(0, 10, 7, 108).releases(0, 20);
  report.by(1).granted(0, 30, 6, 120).releases(0, 40);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::token_order));
}

TEST(Recording, SeesATokenTwice) {
  Report report;
  report.by(0).granted(0, 10, 7, 108).releases(0, 20);
  report.by(1).granted(0, 30, 7, 120).releases(0, 40);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::token_order));
}

TEST(Recording, SeesAnOldTokenForALaterRequestThoughTheHoldIsDead) {
  Report report;
  report.by(0).granted(0, 10, 7, 108).releases(0, 20);
  report.by(1).asks(0, 30);
  report.life().notes.push_back({.at = at_ms(40), .value = 6, .what = Noted::granted, .detail = 1});
  report.looks(0, 41, false).told(0, 42).releases(0, 43, Released::not_held);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::token_order));
}

TEST(Recording, SeesAHoldThatComesBackToLife) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).looks(0, 109, false).told(0, 110).looks(0, 120, true, 200).releases(0, 130);
  EXPECT_THAT(report.broken(), Contains(Rule::dead_is_dead));
}

TEST(Recording, SeesAHoldThatIsValidAfterItsLossWasTold) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).told(0, 50).looks(0, 51, true, 108).releases(0, 60, Released::not_held);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::dead_is_dead));
}

TEST(Recording, SeesALostHoldThatIsSaidToBeReleased) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).looks(0, 109, false).told(0, 110).releases(0, 111, Released::released);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Recording, SeesALossThatIsToldLateOrNever) {
  Report late;
  late.by(0).granted(0, 10, 1, 108).looks(0, 109, false).told(0, 170).releases(0, 180, Released::not_held);
  EXPECT_THAT(late.broken(), ElementsAre(Rule::lost_by_v));
  Report untold;
  untold.by(0).granted(0, 10, 1, 108).looks(0, 109, false).releases(0, 180, Released::not_held);
  EXPECT_THAT(untold.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Recording, SeesAValidHolderWhoseWriteIsRefused) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).writes(0, 20, 21, 1, false).releases(0, 30);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::fenced_writes));
}

TEST(Recording, SeesAnOlderWriteAfterANewerOne) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).stopped(20, 300).writes(0, 301, 302, 1, true);
  report.looks(0, 303, false).told(0, 304).releases(0, 305, Released::not_held);
  report.by(1).granted(0, 150, 2, 240).writes(0, 155, 156, 2, true).releases(0, 160);
  report.journal(1, false).journal(2, false).journal(2, true).journal(1, true);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::fenced_writes, Rule::fenced_writes));
}

TEST(Recording, SeesATokenThatNobodyWasGranted) {
  Report report;
  report.journal(5, false).journal(5, true);
  EXPECT_THAT(report.broken(), Contains(Rule::fenced_writes));
}

TEST(Recording, SeesAnAnswerLongAfterTheDeadline) {
  Report report;
  report.by(0).asks(0, 10, at_ms(30)).answered(0, 30 + 2 * 17 + 50 + 10, Errc::timed_out);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::prompt_answers));
}

TEST(Recording, ExcusesAnAnswerOfAProcessThatWasStopped) {
  Report report;
  report.by(0).asks(0, 10, at_ms(30)).stopped(20, 290).answered(0, 300, Errc::timed_out);
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, ExcusesAnAnswerJustBeforeItIsNotedThatItsProcessGoesOn) {
  Report report;
  report.by(0).asks(0, 10, at_ms(30)).stopped(20, 500).answered(0, 499.9, Errc::unreachable);
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, SeesAWaiterWhoIsForgotten) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).releases(0, 20);
  report.by(1).asks(0, 15);
  report.life().notes.push_back({.at = at_ms(200), .value = 2, .what = Noted::granted, .detail = 1});
  report.looks(0, 200, true, 290).releases(0, 210);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::served_in_time));
}

TEST(Recording, ExcusesAWaitBehindAHolderThatWasKilled) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).killed(20);
  report.by(1).asks(0, 15);
  report.life().notes.push_back({.at = at_ms(120), .value = 2, .what = Noted::granted, .detail = 1});
  report.looks(0, 120, true, 210).releases(0, 130);
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, ExcusesAWaitWhileTheStoreIsAway) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).releases(0, 20);
  report.by(1).asks(0, 15);
  report.life().notes.push_back({.at = at_ms(200), .value = 2, .what = Noted::granted, .detail = 1});
  report.looks(0, 200, true, 290).releases(0, 210);
  report.recording().troubles.push_back({.from = at_ms(25), .until = at_ms(90), .away = true});
  EXPECT_THAT(report.broken(), IsEmpty());
}

TEST(Recording, LetsOthersInWhenTheStoreHasForgotten) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).looks(0, 50, true, 108).told(0, 60).looks(0, 70, false);
  report.releases(0, 75, Released::not_held);
  report.by(1).granted(0, 40, 2, 138).releases(0, 60);
  report.recording().troubles.push_back({.from = at_ms(30), .until = at_ms(31), .forgets = true});
  EXPECT_THAT(report.broken(), IsEmpty());
  report.recording().troubles.clear();
  EXPECT_THAT(report.broken(), ElementsAre(Rule::exclusion));
}

TEST(Recording, SeesAHoldThatOutlivesTheStoresMemory) {
  Report report;
  report.by(0).granted(0, 10, 1, 108).looks(0, 50, true, 200).looks(0, 135, true, 200).releases(0, 140);
  report.recording().troubles.push_back({.from = at_ms(30), .until = at_ms(31), .forgets = true});
  EXPECT_THAT(report.broken(), ElementsAre(Rule::lost_by_v));
}

TEST(Recording, SeesTokensThatBeginAgainWhenTheStoreHasForgotten) {
  Report report;
  report.by(0).granted(0, 10, 9, 108).releases(0, 20);
  report.by(1).granted(0, 40, 2, 138).releases(0, 60);
  report.recording().troubles.push_back({.from = at_ms(30), .until = at_ms(31), .forgets = true});
  EXPECT_THAT(report.broken(), ElementsAre(Rule::token_order));
}

TEST(Recording, SeesARequestWithoutAnAnswer) {
  Report report;
  report.by(0).asks(0, 10);
  EXPECT_THAT(report.broken(), ElementsAre(Rule::one_answer));
}

TEST(Recording, SeesAProcessThatDoesNotEnd) {
  Report report;
  report.by(2).life().gone = never;
  EXPECT_THAT(report.broken(), ElementsAre(Rule::comes_to_an_end));
}

TEST(Recording, SeesWhatTheStoreKeeps) {
  Report report;
  report.recording().store_is_empty = false;
  EXPECT_THAT(report.broken(), ElementsAre(Rule::nothing_left));
}

}  // namespace
}  // namespace holdfast::faults
