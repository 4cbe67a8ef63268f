#include "base/url.hpp"

#include <gtest/gtest.h>

#include "holdfast/error.hpp"

namespace holdfast::base {
namespace {

std::string complaint(std::string_view text) {
  try {
    Url::parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::bad_url);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(Url, HasASchemeAndARest) {
  const Url url = Url::parse("redis://user:secret@host:6379/2");
  EXPECT_EQ(url.scheme, "redis");
  EXPECT_EQ(url.rest, "//user:secret@host:6379/2");
  EXPECT_TRUE(url.options.empty());
}

TEST(Url, MayHaveAnEmptyRest) {
  EXPECT_EQ(Url::parse("memory:").rest, "");
  EXPECT_EQ(Url::parse("memory:?").rest, "");
  EXPECT_EQ(Url::parse("memory:name").rest, "name");
}

TEST(Url, LowersTheSchemeOnly) {
  const Url url = Url::parse("ReDiS+TLS://Host?Key=Value");
  EXPECT_EQ(url.scheme, "redis+tls");
  EXPECT_EQ(url.rest, "//Host");
  EXPECT_EQ(url.options.at("Key"), "Value");
}

TEST(Url, DecodesOptionsButNotTheRest) {
  const Url url = Url::parse("sqlite:/a%20b.db?pre%66ix=a%26b%3dc+d&empty=&second=x=y?z");
  EXPECT_EQ(url.rest, "/a%20b.db");
  EXPECT_EQ(url.options.size(), 3U);
  EXPECT_EQ(url.options.at("prefix"), "a&b=c+d");
  EXPECT_EQ(url.options.at("empty"), "");
  EXPECT_EQ(url.options.at("second"), "x=y?z");
}

TEST(Url, SaysWhatIsWrong) {
  EXPECT_NE(complaint("").find("is empty"), std::string::npos);
  EXPECT_NE(complaint("localhost").find("no scheme"), std::string::npos);
  EXPECT_NE(complaint(":rest").find("scheme and a colon"), std::string::npos);
  EXPECT_NE(complaint("1redis:x").find("scheme and a colon"), std::string::npos);
  EXPECT_NE(complaint("/tmp/a:b").find("scheme and a colon"), std::string::npos);
  EXPECT_NE(complaint("memory:x\n").find("line break"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=1&flag").find("option 2"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=1&&b=2").find("option 2"), std::string::npos);
  EXPECT_NE(complaint("memory:?=1").find("option 1"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=1&a=2").find("twice"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=%4").find("%25"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=%4x").find("%25"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=%").find("%25"), std::string::npos);
  EXPECT_NE(complaint("memory:?a=%00").find("NUL"), std::string::npos);
}

TEST(Url, NeverRepeatsWhatMayBeAPassword) {
  for (const char* text : {"hunter2", "hunter2@host:x", "redis://u:a?hunter2@host", "redis://u:p?hunter2=1&hunter2=2",
                           "redis://u:p?a=hunter2%zz", "hunter2\n:"}) {
    EXPECT_EQ(complaint(text).find("hunter2"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace holdfast::base
