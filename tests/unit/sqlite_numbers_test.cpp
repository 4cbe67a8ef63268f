#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "backends/sqlite/numbers.hpp"

namespace holdfast::sqlite {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

/// A clock that the test sets, and that may run a little with every look at it.
struct PretendedClock {
  static inline base::Instant time = {};
  static inline nanoseconds per_look = {};
  static inline int looks = 0;

  static base::Instant now() {
    ++looks;
    return time += per_look;
  }
  static Machine machine(std::int64_t at, nanoseconds runs_by = nanoseconds(0)) {
    time = base::Instant(microseconds(at));
    per_look = runs_by;
    looks = 0;
    return {.boot_id = "pretended", .now = &PretendedClock::now};
  }
  static void pass(std::int64_t duration) { time += microseconds(duration); }
};

TEST(SqliteNumbers, AreTheTimeSinceBootPlusABase) {
  const Machine machine = PretendedClock::machine(5000);
  Numbers numbers(machine, {.base = 1'000'000, .limit = 2'000'000});
  EXPECT_EQ(numbers.next(), 1'005'000);
  PretendedClock::pass(10);
  EXPECT_EQ(numbers.next(), 1'005'010);
}

TEST(SqliteNumbers, RiseWhileTheClockStandsStill) {
  const Machine machine = PretendedClock::machine(100);
  Numbers numbers(machine, {.base = 0, .limit = 1000});
  EXPECT_EQ(numbers.next(), 100);
  EXPECT_EQ(numbers.next(), 101);
  EXPECT_EQ(numbers.next(), 102);
  PretendedClock::pass(1);
  EXPECT_EQ(numbers.next(), 103) << "the clock is behind by now";
  PretendedClock::pass(50);
  EXPECT_EQ(numbers.next(), 151) << "and ahead again";
}

TEST(SqliteNumbers, HaveAFloorThatTakesNone) {
  const Machine machine = PretendedClock::machine(100);
  Numbers numbers(machine, {.base = 0, .limit = 1000});
  EXPECT_EQ(numbers.floor(), 100);
  EXPECT_EQ(numbers.floor(), 100);
  EXPECT_EQ(numbers.next(), 100);
  EXPECT_EQ(numbers.floor(), 101);
  PretendedClock::pass(50);
  EXPECT_EQ(numbers.floor(), 150);
}

TEST(SqliteNumbers, StayBelowTheirLimit) {
  const Machine machine = PretendedClock::machine(98);
  Numbers numbers(machine, {.base = 0, .limit = 100});
  EXPECT_EQ(numbers.next(), 98);
  EXPECT_EQ(numbers.next(), 99);
  EXPECT_THROW(numbers.next(), ReservationNeeded);
  EXPECT_THROW(numbers.next(), ReservationNeeded) << "a refusal takes none either";
  numbers.extend_to(101);
  EXPECT_EQ(numbers.next(), 100);
  EXPECT_THROW(numbers.next(), ReservationNeeded);
  PretendedClock::pass(1000);
  numbers.extend_to(500);
  EXPECT_THROW(numbers.next(), ReservationNeeded) << "the clock has passed the limit";
}

TEST(SqliteNumbers, HaveALimitThatOnlyRises) {
  const Machine machine = PretendedClock::machine(100);
  Numbers numbers(machine, {.base = 0, .limit = 200});
  numbers.extend_to(50);
  EXPECT_EQ(numbers.next(), 100);
}

TEST(SqliteNumbers, RunLowBeforeTheyRunOut) {
  const Machine machine = PretendedClock::machine(0);
  const Numbers numbers(machine, Numbers::starting_at(1000, machine));
  EXPECT_FALSE(numbers.running_low());
  PretendedClock::pass(Numbers::reservation / 2);
  EXPECT_FALSE(numbers.running_low());
  PretendedClock::pass(1);
  EXPECT_TRUE(numbers.running_low());
}

TEST(SqliteNumbers, StartWhereTheyAreTold) {
  for (const std::int64_t since_boot : {0L, 17L, 3'000'000'000L}) {
    const Machine machine = PretendedClock::machine(since_boot);
    const Numbers::Range range = Numbers::starting_at(123'456, machine);
    EXPECT_EQ(range.limit, 123'456 + Numbers::reservation);
    EXPECT_EQ(Numbers(machine, range).next(), 123'456) << since_boot;
  }
}

TEST(SqliteNumbers, AreNotRepeatedByWhoeverComesAfterTheClockHasPassed) {
  const Machine machine = PretendedClock::machine(100, nanoseconds(7));  // runs slowly: 143 looks for a microsecond
  const Numbers::Range range{.base = 0, .limit = 1'000'000};
  Numbers first(machine, range);
  Numbers second(machine, range);
  std::int64_t last = 0;
  for (int transaction = 0; transaction < 50; ++transaction) {
    Numbers& mine = transaction % 2 == 0 ? first : second;
    for (int i = 0; i <= transaction % 4; ++i) {
      const std::int64_t number = mine.next();
      EXPECT_GT(number, last);
      last = number;
    }
    mine.let_the_clock_pass();
    EXPECT_GT(Numbers::microseconds(PretendedClock::time), last);
  }
}

TEST(SqliteNumbers, DoNotWaitForAClockThatHasPassed) {
  const Machine machine = PretendedClock::machine(100);  // stands still: whoever waited would wait for ever
  Numbers numbers(machine, {.base = 0, .limit = 1000});
  numbers.let_the_clock_pass();
  EXPECT_EQ(PretendedClock::looks, 1) << "nothing was given";
  numbers.next();
  PretendedClock::pass(1);
  PretendedClock::looks = 0;
  numbers.let_the_clock_pass();
  EXPECT_EQ(PretendedClock::looks, 1);
}

}  // namespace
}  // namespace holdfast::sqlite
