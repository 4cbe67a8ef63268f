#include "kit/number_fields.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace holdfast::kit {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(NumberFields, HaveAValueWhateverTheTextIs) {
  EXPECT_EQ(number_in("4711"), 4711);
  EXPECT_EQ(number_in("-4711"), -4711);
  EXPECT_EQ(number_in("12 apples"), 12);
  for (const std::string text : {"", "apples", "+1", "99999999999999999999"}) EXPECT_EQ(number_in(text), 0) << text;
}

TEST(NumberFields, OfDurationsFitIntoNanoseconds) {
  EXPECT_EQ(duration_in<milliseconds>("1500"), milliseconds(1500));
  for (const std::string sign : {"", "-"}) {
    const nanoseconds as_milliseconds = duration_in<milliseconds>(sign + "9223372036854775807");
    const nanoseconds as_microseconds = duration_in<microseconds>(sign + "9223372036854775807");
    EXPECT_EQ(as_milliseconds < nanoseconds::zero(), sign == "-");
    EXPECT_EQ(as_microseconds < nanoseconds::zero(), sign == "-");
  }
}

}  // namespace
}  // namespace holdfast::kit
