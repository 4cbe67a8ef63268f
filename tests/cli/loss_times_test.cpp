#include "cli/run/loss_times.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using base::Instant;
using Proof = LossTimes::Proof;

constexpr Instant start{1000s};

constexpr LossTimes::Ends lease_only{.lease = start};

/// V and what follows from it, when a renewal has moved V to `given` from then.
LossTimes::Ends ends_of(const LossTimes& times, std::chrono::nanoseconds given, Instant max_hold = Instant::max()) {
  return {.lease = start, .lease_notice = start - times.lease_notice(given, Proof::at_once), .max_hold = max_hold};
}

TEST(LossTimes, GiveAQuarterOfTheLeaseToEnd) {
  EXPECT_EQ(LossTimes(1s, 5s, 0s).lease_notice(980ms, Proof::at_once), 250ms);
  EXPECT_EQ(LossTimes(10s, 5s, 0s).lease_notice(9800ms, Proof::at_once), 2500ms);
}

TEST(LossTimes, GiveNoMoreThanTheGrace) { EXPECT_EQ(LossTimes(60s, 5s, 0s).lease_notice(59s, Proof::at_once), 5s); }

TEST(LossTimes, AskNoLaterThanTheyKillHoweverShortTheGrace) {
  const LossTimes times(60s, 0s, 60s);
  EXPECT_EQ(times.terminate_at(ends_of(times, 59s)), LossTimes::kill_at(lease_only));
  const LossTimes::Ends max_hold_only{.lease = Instant::max(), .max_hold = start};
  EXPECT_EQ(times.terminate_at(max_hold_only), LossTimes::kill_at(max_hold_only));
}

TEST(LossTimes, LeaveACommandAloneWhileARenewalIsStillDue) {
  // What ZooKeeper proves of a lease, for every length of it: between 0.59 and 0.66 of the ttl at a renewal, a third of
  // the ttl less when the next one is due.
  for (const auto ttl : {4000ms, 6000ms, 10000ms, 30000ms, 40000ms}) {
    for (const auto grace : {0ms, 500ms, 5000ms, 60000ms}) {
      const LossTimes times(ttl, grace, 0ms);
      for (int percent = 59; percent <= 66; ++percent) {
        const std::chrono::nanoseconds given = std::chrono::nanoseconds(ttl) * percent / 100;
        const std::chrono::nanoseconds left_when_due = given - std::chrono::nanoseconds(ttl) / 3;
        for (const Proof proof : {Proof::at_once, Proof::late}) {
          EXPECT_LE(times.lease_notice(given, proof), left_when_due / 2)
              << ttl.count() << " ms, grace " << grace.count();
          EXPECT_GE(times.lease_notice(given, proof), 100ms);
        }
      }
    }
  }
}

TEST(LossTimes, LeaveACommandAloneUntilTheSecondRenewalOfANewSession) {
  // A session that has just begun is proved in full, and nothing more by the first renewal.
  for (const auto ttl : {4000ms, 10000ms, 30000ms}) {
    const LossTimes times(ttl, 60000ms, 0ms);
    for (int percent = 97; percent <= 99; ++percent) {
      const std::chrono::nanoseconds given = std::chrono::nanoseconds(ttl) * percent / 100;
      const std::chrono::nanoseconds left_at_the_second = given - std::chrono::nanoseconds(ttl) * 2 / 3;
      EXPECT_LE(times.lease_notice(given, Proof::late), left_at_the_second / 2 + 1ns) << ttl.count() << " ms";
    }
  }
}

/// Also in the first lease of a client: where the first renewal proves a whole lease, nothing else has to be waited for.
TEST(LossTimes, GiveLessToEndOnlyWhereARenewalProvesLess) {
  for (const auto ttl : {2000ms, 10000ms, 60000ms}) {
    const LossTimes times(ttl, 60000ms, 0ms);
    EXPECT_EQ(times.lease_notice(ttl * 97 / 100, Proof::at_once), ttl / 4) << ttl.count() << " ms";
    EXPECT_LE(times.lease_notice(ttl * 97 / 100, Proof::late), ttl / 6) << ttl.count() << " ms";
    for (const int percent : {59, 66, 97}) {
      EXPECT_GE(times.lease_notice(ttl * percent / 100, Proof::late), ttl / 8) << ttl.count() << " ms, " << percent;
    }
  }
}

TEST(LossTimes, KillBeforeTheStoreMayGiveTheLockAway) {
  EXPECT_EQ(LossTimes::kill_at(lease_only), start - 100ms);
  EXPECT_EQ(LossTimes::kill_at({.lease = start, .max_hold = start - 1s}), start - 1100ms);
}

TEST(LossTimes, GiveOneSecondWhenTheLockIsGone) {
  const LossTimes times(10s, 5s, 0s);
  EXPECT_EQ(times.kill_at_after_loss(start, {.lease = start + 10s}), start + 1s);
  EXPECT_EQ(times.kill_at_after_loss(start, {.lease = start + 500ms}), start + 400ms);
  EXPECT_EQ(LossTimes(10s, 300ms, 0s).kill_at_after_loss(start, {.lease = start + 10s}), start + 300ms);
}

TEST(LossTimes, EndALongTurnBeforeItIsOver) {
  const LossTimes times(10s, 5s, 2s);
  const LossTimes::Ends max_hold_first{.lease = start + 10s, .lease_notice = start + 7500ms, .max_hold = start};
  EXPECT_EQ(times.terminate_at(max_hold_first), start - 500ms);
  EXPECT_TRUE(times.max_hold_is_over(max_hold_first));
  const LossTimes::Ends lease_first = ends_of(times, 9800ms, start + 10s);
  EXPECT_EQ(times.terminate_at(lease_first), start - 2500ms);
  EXPECT_FALSE(times.max_hold_is_over(lease_first));
  EXPECT_FALSE(times.max_hold_is_over(ends_of(times, 9800ms)));
}

}  // namespace
}  // namespace holdfast::cli
