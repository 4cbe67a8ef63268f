// A date and a number that are one value.

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "ids/date_steps.hpp"
#include "support/errors.hpp"
#include "support/fake_register.hpp"

namespace holdfast::ids {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using test::FakeStore;
using test::outcome_of;
using Fault = FakeStore::Fault;
using WhenFull = DateCounterOptions::WhenFull;

TEST(DateFormat, PutsDateAndNumberIntoOneValue) {
  const DateFormat format({.prefix = "ORD-", .digits = 6});
  const DayNumber at = {.day = 20'261'120, .number = 123};
  EXPECT_EQ(format.value_of(at), 202'611'200'000'123);
  EXPECT_EQ(format.read(202'611'200'000'123), at);
  EXPECT_EQ(format.text_of(at), "ORD-20261120000123");
  EXPECT_EQ(format.parse("ORD-20261120000123"), (DateId{std::chrono::year(2026) / 11 / 20, 123}));
}

TEST(DateFormat, FitsInto64BitsForAllDatesAndWidths) {
  for (unsigned digits = 4; digits <= 9; ++digits) {
    const DateFormat format({.digits = digits, .when_full = WhenFull::widen});
    const DayNumber last = {.day = 99'991'231, .number = format.last_number()};
    EXPECT_EQ(format.read(format.value_of(last)), last) << digits;
  }
}

TEST(DateFormat, ReadsNoValueOfAnotherWidth) {
  for (unsigned mine = 4; mine <= 9; ++mine) {
    for (unsigned theirs = 4; theirs <= 9; ++theirs) {
      const DateFormat format({.digits = mine});
      for (const Day day : {Day{20'260'101}, Day{99'991'231}}) {
        const std::int64_t value = DateFormat({.digits = theirs}).value_of({.day = day, .number = 1});
        EXPECT_EQ(format.read(value).has_value(), mine == theirs) << mine << " " << theirs;
      }
    }
  }
}

TEST(DateFormat, ParsesOnlyWhatItWrites) {
  const DateFormat narrow({.prefix = "A", .digits = 4});
  const DateFormat wide({.prefix = "A", .digits = 4, .when_full = WhenFull::widen});
  for (const char* text : {"", "A", "202611200001", "A20261120000", "A20261120000x", "A202613200001", "A202602300001",
                           "A202611200000", "A2026112000001", "B202611200001", "A+2026112001", "A20261120000123"}) {
    EXPECT_FALSE(narrow.parse(text)) << text;
  }
  EXPECT_TRUE(narrow.parse("A202611209999"));
  EXPECT_EQ(wide.parse("A2026112012345")->number, 12'345u);
  EXPECT_EQ(wide.text_of({.day = 20'261'120, .number = 12'345}), "A2026112012345");
}

class FakeClock final : public CounterClock {
 public:
  void now(Done<Time> done) override { done(answer); }
  Answer<Time> answer = Time{};
};

class DateTest : public testing::Test {
 protected:
  /// A generator for each process. The clock is the store's, and is asked anew by each generator.
  std::shared_ptr<DateState> process(DateCounterOptions options = {.digits = 4}, std::int64_t gap = 10) {
    auto counter = std::make_shared<Counter>("date counter 'd'", Counter::largest_last, gap);
    return std::make_shared<DateState>(DateFormat(options), std::move(counter), options.utc_offset);
  }
  void it_is(sys_days day, std::chrono::seconds time = 12h) { clock_->answer = CounterClock::Time(day + time); }
  Answer<DayNumbers> take(const std::shared_ptr<DateState>& state, std::int64_t count = 1) {
    return outcome_of(take_of_today(state, source_, clock_, count));
  }
  std::int64_t value(const std::shared_ptr<DateState>& state, std::int64_t count = 1) {
    auto answer = take(state, count);
    if (!answer.ok()) return 0;
    return state->format.value_of({.day = answer.value().day, .number = answer.value().first});
  }
  Errc refusal(const std::shared_ptr<DateState>& state) {
    auto answer = take(state);
    return answer.ok() ? Errc::busy : answer.failure().code;
  }

  FakeStore store_;
  std::shared_ptr<CounterRegister> source_ = std::make_shared<test::FakeRegister>(store_);
  std::shared_ptr<FakeClock> clock_ = [] {
    auto clock = std::make_shared<FakeClock>();
    clock->answer = CounterClock::Time(sys_days(std::chrono::year(2026) / 11 / 20) + 12h);
    return clock;
  }();
};

TEST_F(DateTest, BeginsWithOneAndAddsFromThenOn) {
  const auto mine = process();
  EXPECT_EQ(value(mine), 2'026'112'000'001);
  EXPECT_EQ(store_.requests, 2u) << "read and written";
  EXPECT_EQ(value(mine, 5), 2'026'112'000'002);
  EXPECT_EQ(store_.requests, 3u) << "one request";
  EXPECT_EQ(value(process()), 2'026'112'000'007);
}

TEST_F(DateTest, BeginsAgainWithOneTheNextDay) {
  value(process(), 500);
  it_is(std::chrono::year(2026) / 11 / 21, 1s);
  EXPECT_EQ(value(process()), 2'026'112'100'001);
}

TEST_F(DateTest, NeverGoesBackToADay) {
  it_is(std::chrono::year(2026) / 11 / 21, 0s);
  EXPECT_EQ(value(process()), 2'026'112'100'001);
  it_is(std::chrono::year(2026) / 11 / 20, 86'399s);
  EXPECT_EQ(value(process()), 2'026'112'100'002) << "a clock that is a second behind";
}

TEST_F(DateTest, LeavesOutWhatItAddedToADayThatIsOver) {
  const auto mine = process();
  value(mine, 500);
  mine->day_in_store = 20'261'121;  // as if it had heard so
  mine->today.told(CounterClock::Time(sys_days(std::chrono::year(2026) / 11 / 21)), base::BootClock::now());
  EXPECT_EQ(value(mine), 2'026'112'100'001);
  EXPECT_EQ(mine->counter->metrics().burnt, 1u);
}

TEST_F(DateTest, KnowsTheDayOfItsTimeZone) {
  it_is(std::chrono::year(2026) / 11 / 20, 23h);
  EXPECT_EQ(value(process({.digits = 4, .utc_offset = 8h})), 2'026'112'100'001);
  it_is(std::chrono::year(2026) / 12 / 31, 23h);
  EXPECT_EQ(value(process({.digits = 4, .utc_offset = 90min})), 2'027'010'100'001);
}

TEST_F(DateTest, GoesByThisHostsClockIfTheStoreHasNone) {
  clock_->answer = CounterClock::Time{};
  auto answer = take(process());
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  EXPECT_LE(answer.value().day, day_of(date));
  EXPECT_GE(answer.value().day, 20'260'101);
}

TEST_F(DateTest, IsFullAfterItsLastNumberUntilTheNextDay) {
  const auto mine = process();
  for (int call = 0; call < 10; ++call) ASSERT_GT(value(mine, 999), 0);
  for (int call = 0; call < 9; ++call) ASSERT_EQ(value(mine), 2'026'112'000'000 + 9'991 + call);
  EXPECT_EQ(refusal(mine), Errc::exhausted);
  EXPECT_EQ(store_.now.value, "full 20261120");
  EXPECT_EQ(refusal(mine), Errc::exhausted);
  EXPECT_EQ(refusal(process()), Errc::exhausted);
  it_is(std::chrono::year(2026) / 11 / 21);
  EXPECT_EQ(value(process()), 2'026'112'100'001);
}

TEST_F(DateTest, GetsOneDigitMoreIfItMay) {
  const auto mine = process({.digits = 4, .when_full = WhenFull::widen});
  for (int call = 0; call < 11; ++call) ASSERT_GT(value(mine, 1'000), 0);
  auto answer = take(mine);
  EXPECT_EQ(mine->format.text_of({.day = answer.value().day, .number = answer.value().first}), "2026112011001");
}

TEST_F(DateTest, RefusesADayThatLiesAheadAsIfAClockWasWrong) {
  it_is(std::chrono::year(2031) / 1 / 1);
  EXPECT_EQ(value(process()), 2'031'010'100'001);
  it_is(std::chrono::year(2026) / 11 / 20);
  auto answer = take(process());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, Errc::wrong_clock);
  EXPECT_NE(answer.failure().what.find("20310101"), std::string::npos);
}

TEST_F(DateTest, IsRefusedWhereTheRegisterHasSomethingElse) {
  for (const char* text : {"seven", "full", "full 7", "20261120", "-1", "202611200000001"}) {
    store_.set(text);
    EXPECT_EQ(refusal(process()), Errc::store_failed) << text;
    EXPECT_EQ(store_.now.value, text);
  }
}

TEST_F(DateTest, DoesNotRepeatWhatTheStoreHasForgotten) {
  const auto mine = process();
  value(mine, 5);
  const Versioned earlier = store_.now;
  value(mine, 5);
  store_.lose_all_since(earlier);
  EXPECT_EQ(value(mine), 2'026'112'000'000 + 10 + 10 + 1) << "above the floor, and a gap";
  store_.lose_all_since({});
  EXPECT_EQ(value(mine), 2'026'112'000'000 + 21 + 10 + 1);
  EXPECT_EQ(mine->counter->metrics().went_back, 2u);
}

TEST_F(DateTest, DoesNotRepeatADayThatTheStoreHasForgotten) {
  const auto mine = process();
  it_is(std::chrono::year(2026) / 11 / 19);
  value(process());
  const Versioned yesterday = store_.now;
  it_is(std::chrono::year(2026) / 11 / 20);
  value(mine, 100);
  store_.lose_all_since(yesterday);
  EXPECT_EQ(value(mine), 2'026'112'000'000 + 100 + 10 + 1);
}

TEST_F(DateTest, MendsWhatSomebodyAddedToARegisterThatWasLost) {
  const auto mine = process();
  value(mine, 5);
  store_.lose_all_since({});
  static_cast<void>(store_.add(3));
  EXPECT_EQ(value(process()), 2'026'112'000'001) << "a process that knows nothing begins the day again";
  EXPECT_EQ(value(mine), 2'026'112'000'000 + 5 + 10 + 1) << "and one that does, does not";
}

TEST_F(DateTest, IsFullRatherThanBeyondItsDayAfterALoss) {
  const auto mine = process();
  for (int call = 0; call < 10; ++call) value(mine, 999);
  store_.lose_all_since({});
  EXPECT_EQ(refusal(mine), Errc::exhausted);
  EXPECT_EQ(store_.now.value, "full 20261120");
}

TEST_F(DateTest, LeavesOutWhatIsInDoubt) {
  const auto mine = process();
  std::set<std::int64_t> issued = {value(mine)};
  for (const Fault fault : {Fault::lost_answer, Fault::lost_request, Fault::late_execution, Fault::unreachable}) {
    store_.fault = [&] { return fault; };
    EXPECT_FALSE(take(mine).ok());
    store_.fault = [] { return Fault::none; };
    for (int call = 0; call < 3; ++call) EXPECT_TRUE(issued.insert(value(mine)).second);
    store_.execute_late();
    for (int call = 0; call < 3; ++call) EXPECT_TRUE(issued.insert(value(mine)).second);
  }
  EXPECT_FALSE(issued.contains(0));
}

TEST_F(DateTest, ComesBackWhenSomebodyElseMovedTheDay) {
  const auto mine = process();
  const auto theirs = process();
  bool done = false;
  store_.before_write = [&] {
    if (std::exchange(done, true)) return;
    EXPECT_EQ(value(theirs), 2'026'112'000'001);
  };
  EXPECT_EQ(value(mine), 2'026'112'000'002);
}

}  // namespace
}  // namespace holdfast::ids
