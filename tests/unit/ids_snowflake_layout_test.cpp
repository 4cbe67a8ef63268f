#include <gtest/gtest.h>

#include <chrono>

#include "holdfast/ids/snowflake_layout.hpp"
#include "support/errors.hpp"

namespace holdfast::ids {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::sys_time;
using Fields = SnowflakeLayout::Fields;
using Milliseconds = sys_time<std::chrono::milliseconds>;
using Unit = SnowflakeLayout::Unit;
using test::errc_of;

constexpr SnowflakeLayout standard;
constexpr Milliseconds epoch = sys_days(std::chrono::January / 1 / 2025);

// All of it can be had at compile time.
static_assert(standard.bits() == 63 && standard.workers() == 1024 && standard.sequences() == 4096);
static_assert(standard.ids_per_second() == 4'096'000);
static_assert(!standard.is_exact_in_javascript() && SnowflakeLayout::javascript().is_exact_in_javascript());
static_assert(SnowflakeLayout::javascript().ids_per_second() == 128'000);
static_assert(SnowflakeLayout::javascript_seconds().ids_per_second() == 4096);
static_assert(standard.decode(standard.compose(7, 3, 5)) == SnowflakeLayout::Parts{epoch + 7ms, 3, 5});
static_assert(standard.compose(1, 0, 0) == std::uint64_t{1} << 22U);

TEST(SnowflakeLayout, EndsOnTheDayThatItsTimeFieldIsFull) {
  EXPECT_EQ(standard.ends(), sys_days(std::chrono::September / 7 / 2094) + 15h + 47min + 35s + 552ms);
  EXPECT_EQ(SnowflakeLayout::javascript().ends(), standard.ends());
  EXPECT_EQ(SnowflakeLayout::javascript_seconds().ends(), sys_days(std::chrono::January / 19 / 2093) + 3h + 14min + 8s);
}

TEST(SnowflakeLayout, DecodesWhatItComposes) {
  for (const SnowflakeLayout& layout :
       {standard, SnowflakeLayout::javascript(), SnowflakeLayout::javascript_seconds(),
        SnowflakeLayout({.time_bits = 32, .worker_bits = 0, .sequence_bits = 1, .unit = Unit::seconds})}) {
    for (const std::int64_t tick : {std::int64_t{0}, std::int64_t{1}, layout.ticks() / 3, layout.ticks() - 1}) {
      for (const std::uint32_t worker : {0U, layout.workers() / 2, layout.workers() - 1}) {
        for (const std::uint32_t sequence : {0U, layout.sequences() / 2, layout.sequences() - 1}) {
          const std::uint64_t id = layout.compose(tick, worker, sequence);
          EXPECT_LT(id, std::uint64_t{1} << static_cast<unsigned>(layout.bits()));
          EXPECT_EQ(layout.decode(id), (SnowflakeLayout::Parts{layout.time_of(tick), worker, sequence}));
          EXPECT_EQ(layout.tick_of(layout.time_of(tick)), tick);
        }
      }
    }
  }
}

TEST(SnowflakeLayout, TicksBeginWhenTheirTimeHasCome) {
  const SnowflakeLayout seconds = SnowflakeLayout::javascript_seconds();
  EXPECT_EQ(seconds.tick_of(epoch), 0);
  EXPECT_EQ(seconds.tick_of(epoch + 999ms), 0);
  EXPECT_EQ(seconds.tick_of(epoch + 1s), 1);
  EXPECT_EQ(seconds.tick_of(epoch - 1ms), -1);
  EXPECT_EQ(standard.tick_of(epoch + 1999us), 1);
  EXPECT_EQ(standard.tick_of(epoch - 1us), -1);
}

TEST(SnowflakeLayout, BoundsIncludeExactlyTheIdsOfAPeriod) {
  const auto [first, last] = standard.bounds(epoch + 10ms, epoch + 12ms + 999us);
  EXPECT_EQ(first, standard.compose(10, 0, 0));
  EXPECT_EQ(last, standard.compose(12, 1023, 4095));
  EXPECT_LT(standard.compose(9, 1023, 4095), first);
  EXPECT_GT(standard.compose(13, 0, 0), last);
}

TEST(SnowflakeLayout, BoundsAreCutOffAtItsOwn) {
  const auto [first, last] = standard.bounds(epoch - 1h, standard.ends() + 1h);
  EXPECT_EQ(first, 0U);
  EXPECT_EQ(last, (std::uint64_t{1} << 63U) - 1);
  for (const auto none : {standard.bounds(epoch - 2h, epoch - 1h), standard.bounds(epoch + 2ms, epoch + 1ms),
                          standard.bounds(standard.ends(), standard.ends() + 1h)}) {
    EXPECT_GT(none.first, none.last) << "BETWEEN finds nothing";
  }
}

TEST(SnowflakeLayout, RefusesWhatMakesNoSense) {
  const Fields senseless[] = {
      // NOLINT(modernize-avoid-c-arrays): a table
      {.time_bits = 9},
      {.time_bits = 45, .worker_bits = 5},
      {.time_bits = 37, .unit = Unit::seconds},
      {.worker_bits = -1},
      {.worker_bits = 23, .sequence_bits = 1},
      {.sequence_bits = 0},
      {.time_bits = 20, .sequence_bits = 23},
      {.time_bits = 42},
      {.epoch = std::chrono::sys_seconds(-1s)},
      {.epoch = sys_days(std::chrono::January / 1 / 2300)},
  };
  for (const Fields& fields : senseless) {
    EXPECT_EQ(errc_of([&] { SnowflakeLayout layout(fields); }), Errc::invalid_argument);
  }
}

TEST(SnowflakeLayout, IsWrittenAndReadAsText) {
  EXPECT_EQ(to_string(standard), "41/10/12/ms/1735689600");
  EXPECT_EQ(to_string(SnowflakeLayout::javascript_seconds()), "31/10/12/s/1735689600");
  for (const SnowflakeLayout& layout :
       {standard, SnowflakeLayout::javascript(), SnowflakeLayout::javascript_seconds()}) {
    EXPECT_EQ(parse_snowflake_layout(to_string(layout)), layout);
  }
  for (const char* const text :
       {"", "41/10/12", "41/10/12/ms", "41/10/12/ms/", "41/10/12/h/1735689600", "41/10/12/ms/1735689600/",
        "41/10/12/ms/1735689600 ", " 41/10/12/ms/1735689600", "041/10/12/ms/1735689600", "41//10/12/ms/1735689600",
        "42/10/12/ms/1735689600", "41/10/12/ms/99999999999999999999", "41/10/12/ms/9223372036854775807"}) {
    EXPECT_EQ(errc_of([&] { parse_snowflake_layout(text); }), Errc::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace holdfast::ids
