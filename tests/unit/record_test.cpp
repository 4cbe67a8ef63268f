#include <gtest/gtest.h>

#include "core/operations/fields.hpp"

namespace holdfast::core {
namespace {

TEST(Record, KeepsAnyBytes) {
  const std::vector<std::string> fields = {"", "one", std::string("\0:\n3:abc", 8), std::string(1000, 'x')};
  EXPECT_EQ(from_record(to_record(fields)), fields);
  EXPECT_EQ(from_record(""), std::vector<std::string>{});
}

TEST(Record, ThatIsNoneIsNotRead) {
  for (const char* text : {"x", "3", "3:ab", "-1:a", "1:ab", "99999999999999999999999:a", ":", "1 :a"}) {
    EXPECT_EQ(from_record(text), std::nullopt) << text;
  }
}

TEST(Record, HasNumbers) {
  EXPECT_EQ(to_number<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(to_number<std::int32_t>("-5"), -5);
  for (const char* text : {"", "1x", " 1", "18446744073709551616", "-1"}) {
    EXPECT_EQ(to_number<std::uint64_t>(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace holdfast::core
