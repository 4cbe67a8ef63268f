// How many numbers a segment has.

#include <gtest/gtest.h>

#include "ids/step_rule.hpp"

namespace holdfast::ids {
namespace {

using namespace std::chrono_literals;
using base::Instant;

constexpr StepRule::Bounds bounds = {.smallest = 100, .largest = 1'000'000, .lasts = 10s};

/// Uses numbers at a rate, as a generator does that asks for the next segment when it begins a new one.
class Usage {
 public:
  std::int64_t at_rate(double per_second, int refills, bool somebody_waits = false) {
    for (int refill = 0; refill < refills; ++refill) {
      const std::int64_t size = rule.step();
      now += std::chrono::duration_cast<base::Duration>(
          std::chrono::duration<double>(static_cast<double>(size) / per_second));
      used += size;
      rule.next(now, used, somebody_waits);
    }
    return rule.step();
  }

  StepRule rule{bounds};
  Instant now{1h};
  std::int64_t used = 0;
};

TEST(StepRule, BeginsSmall) {
  StepRule rule(bounds);
  EXPECT_EQ(rule.next(Instant(1h), 0, false), 100);
}

TEST(StepRule, ComesToLastForAnOutage) {
  Usage usage;
  EXPECT_NEAR(static_cast<double>(usage.at_rate(1'000, 30)), 10'000, 100);
  EXPECT_NEAR(usage.rule.rate(), 1'000, 10);
}

TEST(StepRule, IsAtMostDoubled) {
  Usage usage;
  std::int64_t before = usage.at_rate(1e6, 2);
  for (int refill = 0; refill < 10; ++refill) {
    const std::int64_t next = usage.at_rate(1e6, 1);
    EXPECT_LE(next, 2 * before);
    before = next;
  }
}

TEST(StepRule, GrowsFasterWhileSomebodyWaits) {
  Usage patient;
  Usage waiting;
  EXPECT_GT(waiting.at_rate(1e6, 5, true), 4 * patient.at_rate(1e6, 5, false));
}

TEST(StepRule, StaysWithinItsLimits) {
  Usage usage;
  EXPECT_EQ(usage.at_rate(1e9, 60), 1'000'000);
  EXPECT_EQ(usage.at_rate(0.1, 60), 100);
}

TEST(StepRule, ShrinksOnlyWhenHalfWouldDo) {
  Usage usage;
  const std::int64_t before = usage.at_rate(1'000, 30);
  EXPECT_EQ(usage.at_rate(700, 10), before);
  EXPECT_LT(usage.at_rate(300, 10), before);
}

TEST(StepRule, LastsForFourAnswersOfASlowStore) {
  Usage usage;
  usage.rule.answered_after(10s);
  EXPECT_NEAR(static_cast<double>(usage.at_rate(1'000, 30)), 40'000, 400);
}

}  // namespace
}  // namespace holdfast::ids
