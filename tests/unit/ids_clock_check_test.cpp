#include <gtest/gtest.h>

#include "ids/clock_check.hpp"

namespace holdfast::ids {
namespace {

using namespace std::chrono_literals;
using base::Duration;
using base::Instant;
using Verdict = ClockCheck::Verdict;
using Witness = ClockCheck::Witness;

constexpr WallTime noon = std::chrono::sys_days(std::chrono::November / 1 / 2026) + 12h;
constexpr Instant boot = Instant(1h);

ClockCheck believed_clock() {
  ClockCheck check({.max_ahead = 2s, .witness_rests = 10s});
  check.observe(noon, boot);
  EXPECT_EQ(check.compare(noon, StoreTime{noon, 1ms}), Verdict::believed);
  return check;
}

TEST(ClockWatch, NoticesWhenTheTimeOfDayIsSet) {
  ClockWatch watch;
  EXPECT_EQ(watch.observe(noon, boot), Duration(0));
  EXPECT_EQ(watch.observe(noon + 10s, boot + 10s), Duration(0));
  EXPECT_EQ(watch.observe(noon + 20s + 10ms, boot + 20s), Duration(0)) << "it is being adjusted";
  EXPECT_EQ(watch.observe(noon + 30s + 510ms, boot + 30s), 500ms);
  EXPECT_EQ(watch.observe(noon + 40s + 510ms, boot + 40s), Duration(0));
  EXPECT_EQ(watch.observe(noon + 49s + 510ms, boot + 50s), -1s);
}

TEST(ClockCheck, IsDueAtFirstAndWhenTheClockIsSetForward) {
  EXPECT_TRUE(ClockCheck({.max_ahead = 2s, .witness_rests = 10s}).is_due());
  ClockCheck check = believed_clock();
  EXPECT_FALSE(check.is_due());
  check.observe(noon + 1h, boot + 1h);
  EXPECT_FALSE(check.is_due()) << "a machine that was suspended: both clocks went on";
  check.observe(noon + 1h - 5s, boot + 1h);
  EXPECT_FALSE(check.is_due()) << "a clock that is late reserves nothing that others want";
  check.observe(noon + 1h, boot + 1h);
  EXPECT_TRUE(check.is_due());
}

TEST(ClockCheck, BelievesAClockThatIsLateOrAheadByNoMoreThanIsAllowed) {
  ClockCheck check = believed_clock();
  EXPECT_EQ(check.compare(noon - 1h, StoreTime{noon, 0ns}), Verdict::believed);
  EXPECT_EQ(check.compare(noon + 2s, StoreTime{noon, 0ns}), Verdict::believed);
  EXPECT_EQ(check.compare(noon + 2s + 1ms, StoreTime{noon, 0ns}), Verdict::refused);
  EXPECT_TRUE(check.is_due());
  EXPECT_EQ(check.compare(noon + 2s + 1ms, StoreTime{noon, 1ms}), Verdict::believed)
      << "the answer was that long under way";
}

TEST(ClockCheck, WithoutAStoresClockTheWindowsOfOthersAreWitnesses) {
  ClockCheck check({.max_ahead = 2s, .witness_rests = 10s});
  EXPECT_EQ(check.compare(noon, boot, std::nullopt), Verdict::believed) << "nobody has been here";
  EXPECT_EQ(check.compare(noon, boot, Witness{1, 1, noon + 10s}), Verdict::believed);
  EXPECT_EQ(check.compare(noon, boot, Witness{1, 1, noon - 1h}), Verdict::believed);
  EXPECT_FALSE(check.witness());
}

TEST(ClockCheck, AWitnessThatIsAliveOutvotesThisClock) {
  ClockCheck check({.max_ahead = 2s, .witness_rests = 10s});
  const Witness old = {.number = 3, .version = 7, .window_ends = noon - 24h};
  EXPECT_EQ(check.compare(noon, boot, old), Verdict::look_again);
  EXPECT_TRUE(check.is_due());
  EXPECT_EQ(check.look_again_at(), boot + 10s);
  EXPECT_EQ(check.witness().value().number, 3U);
  EXPECT_EQ(check.compare_again(noon + 10s, {3, 8, noon - 24h + 10s}), Verdict::refused);
  EXPECT_TRUE(check.is_due());
}

TEST(ClockCheck, AWitnessThatIsDeadSaysNothing) {
  ClockCheck check({.max_ahead = 2s, .witness_rests = 10s});
  const Witness old = {.number = 3, .version = 7, .window_ends = noon - 24h};
  EXPECT_EQ(check.compare(noon, boot, old), Verdict::look_again);
  EXPECT_EQ(check.compare_again(noon + 10s, old), Verdict::believed) << "nobody has been here for a day";
  EXPECT_FALSE(check.is_due());
}

TEST(ClockCheck, AWitnessThatCameBackMeanwhileSaysThatTheClockIsRight) {
  ClockCheck check({.max_ahead = 2s, .witness_rests = 10s});
  EXPECT_EQ(check.compare(noon, boot, Witness{3, 7, noon - 24h}), Verdict::look_again);
  EXPECT_EQ(check.compare_again(noon + 10s, {3, 8, noon + 20s}), Verdict::believed);
}

}  // namespace
}  // namespace holdfast::ids
