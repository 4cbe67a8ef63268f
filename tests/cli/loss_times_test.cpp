#include "cli/run/loss_times.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using Instant = BootClock::time_point;

constexpr Instant start{1000s};

constexpr LossTimes::Ends lease_only{.lease = start};

TEST(LossTimes, GiveAQuarterOfTheLeaseToEnd) {
  EXPECT_EQ(LossTimes(1s, 5s, 0s).terminate_at(lease_only), start - 250ms);
  EXPECT_EQ(LossTimes(10s, 5s, 0s).terminate_at(lease_only), start - 2500ms);
}

TEST(LossTimes, GiveNoMoreThanTheGrace) {
  EXPECT_EQ(LossTimes(60s, 5s, 0s).terminate_at(lease_only), start - 5s);
  EXPECT_EQ(LossTimes(60s, 0s, 0s).terminate_at(lease_only), start);
}

TEST(LossTimes, KillBeforeTheStoreMayGiveTheLockAway) {
  EXPECT_EQ(LossTimes::kill_at(lease_only), start - 100ms);
  EXPECT_EQ(LossTimes::kill_at({.lease = start, .turn = start - 1s}), start - 1100ms);
}

TEST(LossTimes, GiveOneSecondWhenTheLockIsGone) {
  const LossTimes times(10s, 5s, 0s);
  EXPECT_EQ(times.kill_at_after_loss(start, {.lease = start + 10s}), start + 1s);
  EXPECT_EQ(times.kill_at_after_loss(start, {.lease = start + 500ms}), start + 400ms);
  EXPECT_EQ(LossTimes(10s, 300ms, 0s).kill_at_after_loss(start, {.lease = start + 10s}), start + 300ms);
}

TEST(LossTimes, EndALongTurnBeforeItIsOver) {
  const LossTimes times(10s, 5s, 2s);
  const LossTimes::Ends turn_first{.lease = start + 10s, .turn = start};
  EXPECT_EQ(times.terminate_at(turn_first), start - 500ms);
  EXPECT_TRUE(times.turn_is_over(turn_first));
  const LossTimes::Ends lease_first{.lease = start, .turn = start + 10s};
  EXPECT_EQ(times.terminate_at(lease_first), start - 2500ms);
  EXPECT_FALSE(times.turn_is_over(lease_first));
  EXPECT_FALSE(times.turn_is_over(lease_only));
}

}  // namespace
}  // namespace holdfast::cli
