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
  for (const char* text : {"", "s", "ten", "10 s", "1.5s", "-1s", "+1s", "1s1s", "1s1h", "1m30", "1d", "1S", "s10",
                           "99999999999999999999s", "9999999999999h", "1h\n"}) {
    EXPECT_THROW(parse_duration(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace holdfast::cli
