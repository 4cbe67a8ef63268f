#include "holdfast/name.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <unordered_set>

#include "holdfast/error.hpp"

namespace holdfast {
namespace {

std::string refusal(const std::string& text) {
  try {
    const LockName name(text);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::invalid_argument);
    EXPECT_EQ(error.code(), Condition::fix_call);
    return error.what();
  }
}

TEST(LockName, AcceptsAnyUtf8) {
  for (const char* text :
       {"a", "a/b", "{x}", "..", "\x7f\x01", "caf\xC3\xA9", "\xF0\x9F\x94\x92", "\xEF\xBF\xBD", " "}) {
    EXPECT_EQ(LockName(text).text(), text);
  }
  EXPECT_EQ(LockName(std::string(512, 'x')).text().size(), 512U);
}

TEST(LockName, SaysWhatIsWrong) {
  using namespace std::string_literals;
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal(std::string(513, 'x')).find("513 bytes"), std::string::npos);
  EXPECT_NE(refusal("a\0b"s).find("NUL character at byte 1"), std::string::npos);
  EXPECT_NE(refusal("ab\xFF").find("UTF-8 at byte 2"), std::string::npos);
}

TEST(LockName, RefusesEveryFormOfInvalidUtf8) {
  for (const char* text : {"\x80", "\xC0\xAF", "\xC1\x81", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3", "\xE2\x28\xA1"}) {
    EXPECT_NE(refusal(text).find("UTF-8"), std::string::npos) << testing::PrintToString(text);
  }
}

TEST(LockName, IsWrittenAsItsText) {
  std::ostringstream out;
  out << LockName("caf\xC3\xA9/1");
  EXPECT_EQ(out.str(), "caf\xC3\xA9/1");
}

TEST(LockName, CanBeAKey) {
  const std::unordered_set<LockName> names = {"a", "A", "a"};
  EXPECT_EQ(names.size(), 2U);
  EXPECT_TRUE(names.contains("A"));
}

#ifdef __cpp_lib_format
TEST(LockName, IsFormattedAsItsText) { EXPECT_EQ(std::format("{:>5}", LockName("job")), "  job"); }
#endif

}  // namespace
}  // namespace holdfast
