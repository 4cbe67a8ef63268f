#include "cli/loss_times.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using Instant = BootClock::time_point;

constexpr Instant start{1000s};

TEST(LossTimes, GiveAQuarterOfTheLeaseToEnd) {
  EXPECT_EQ(LossTimes(1s).terminate_at(start), start - 250ms);
  EXPECT_EQ(LossTimes(10s).terminate_at(start), start - 2500ms);
}

TEST(LossTimes, GiveNoMoreThanTheGrace) { EXPECT_EQ(LossTimes(60s).terminate_at(start), start - 5s); }

TEST(LossTimes, KillBeforeTheStoreMayGiveTheLockAway) { EXPECT_EQ(LossTimes::kill_at(start), start - 100ms); }

TEST(LossTimes, GiveOneSecondWhenTheLockIsGone) {
  EXPECT_EQ(LossTimes::kill_at_after_loss(start, start + 10s), start + 1s);
  EXPECT_EQ(LossTimes::kill_at_after_loss(start, start + 500ms), start + 400ms);
}

}  // namespace
}  // namespace holdfast::cli
