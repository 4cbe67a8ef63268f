#include "cli/text/duration.hpp"

#include <gtest/gtest.h>

#include "cli/exit_code.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(Duration, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("10s"), 10s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1h2m3s4ms"), 1h + 2min + 3s + 4ms);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("0s"), 0s);
  EXPECT_EQ(parse_duration("1d"), 24h);
  EXPECT_EQ(parse_duration("1w"), 7 * 24h);
  EXPECT_EQ(parse_duration("1w2d3h"), 9 * 24h + 3h);
}

TEST(Duration, MayHaveAFraction) {
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("0.5s"), 500ms);
  EXPECT_EQ(parse_duration("1.001s"), 1001ms);
  EXPECT_EQ(parse_duration("0.5w"), 84h);
  EXPECT_EQ(parse_duration("1h0.5m"), 1h + 30s);
  EXPECT_EQ(parse_duration("1.000000000w"), 7 * 24h);
  EXPECT_EQ(parse_duration("2.0ms"), 2ms);
}

TEST(Duration, WithoutAUnitIsRefusedWithAHint) {
  try {
    parse_duration("10");
    FAIL() << "a bare number was taken";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 10s"), std::string::npos) << error.what();
  }
}

TEST(Duration, ThatIsNoneIsRefused) {
  for (const char* text : {"",
                           "s",
                           "ten",
                           "10 s",
                           "-1s",
                           "+1s",
                           "1s1s",
                           "1s1h",
                           "1m30",
                           "1y",
                           "1S",
                           "s10",
                           "1d1w",
                           "99999999999999999999s",
                           "9999999999999h",
                           "1h\n",
                           "1.s",
                           ".5s",
                           "1.5h30m",
                           "1.5ms",
                           "0.0001s",
                           "1.5.5s",
                           "1,5s",
                           "1.5",
                           "1.0000000000s",
                           "9999999w99999999d"}) {
    EXPECT_THROW(parse_duration(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace holdfast::cli
