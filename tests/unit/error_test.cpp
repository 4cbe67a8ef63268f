#include "holdfast/error.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Error, SaysWhatToDo) {
  EXPECT_EQ(make_error_code(Errc::unreachable), Condition::retry);
  EXPECT_EQ(make_error_code(Errc::lost), Condition::lost);
  EXPECT_EQ(make_error_code(Errc::in_doubt), Condition::in_doubt);
  EXPECT_EQ(make_error_code(Errc::bad_url), Condition::fix_configuration);
  EXPECT_EQ(make_error_code(Errc::end_of_life), Condition::fix_configuration);
  EXPECT_EQ(make_error_code(Errc::wrong_clock), Condition::fix_configuration);
  EXPECT_EQ(make_error_code(Errc::invalid_argument), Condition::fix_call);
  EXPECT_NE(make_error_code(Errc::lost), Condition::retry);
  EXPECT_NE(make_error_code(Errc::end_of_life), Condition::retry);
}

TEST(Error, HasATextForEveryCode) {
  for (int code = 1; code <= static_cast<int>(Errc::wrong_clock); ++code) {
    EXPECT_NE(error_category().message(code), "unknown error") << code;
  }
  EXPECT_EQ(error_category().message(999), "unknown error");
}

TEST(Error, KeepsItsCodeAndItsText) {
  const Error error(Errc::exhausted, "no descriptors left");
  EXPECT_EQ(error.errc(), Errc::exhausted);
  EXPECT_STREQ(error.what(), "no descriptors left");
  const Error copy = error;
  EXPECT_STREQ(copy.what(), "no descriptors left");
  EXPECT_EQ(copy.code(), error.code());
}

TEST(Error, SaysSomethingInAnyCase) { EXPECT_STREQ(Error(Errc::closed, "").what(), "the client is closed"); }

}  // namespace
}  // namespace holdfast
