#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "holdfast/error.hpp"
#include "kit/url/authority.hpp"
#include "kit/url/options.hpp"
#include "support/errors.hpp"

namespace holdfast::kit {
namespace {

const Authority::Rules rules = {.store = "stone", .usual_port = "1234"};
const Authority::Rules rules_of_one_host = {
    .store = "stone", .usual_port = "1234", .most_hosts = 1, .needs_user = false, .may_have_path = false};

void expect_refusal(const std::optional<Error>& refusal, const std::string& hint, const std::string& text) {
  ASSERT_TRUE(refusal) << text;
  EXPECT_EQ(refusal->errc(), Errc::bad_url) << text;
  EXPECT_TRUE(std::string(refusal->what()).starts_with("the stone URL ")) << text << ": " << refusal->what();
  EXPECT_NE(std::string(refusal->what()).find(hint), std::string::npos) << text << ": " << refusal->what();
  EXPECT_EQ(std::string(refusal->what()).find("hunter2"), std::string::npos) << text << ": " << refusal->what();
}

TEST(UrlAuthority, NamesAHost) {
  const Authority authority = Authority::parse("//host", rules);
  ASSERT_EQ(authority.hosts.size(), 1U);
  EXPECT_EQ(authority.hosts[0].name, "host");
  EXPECT_EQ(authority.hosts[0].port, "1234");
  EXPECT_EQ(authority.user, "");
  EXPECT_EQ(authority.password, "");
  EXPECT_EQ(authority.path, "");
}

TEST(UrlAuthority, SaysEverythingInOneLine) {
  const Authority authority = Authority::parse("//us%40er:p%40ss%3Aw%2Frd@a,b:1,[::1],[::2]:3/pa%20th/", rules);
  EXPECT_EQ(authority.user, "us@er");
  EXPECT_EQ(authority.password, "p@ss:w/rd");
  ASSERT_EQ(authority.hosts.size(), 4U);
  EXPECT_EQ(authority.hosts[1].text(), "b:1");
  EXPECT_EQ(authority.hosts[2].text(), "[::1]:1234");
  EXPECT_EQ(authority.hosts[3].text(), "[::2]:3");
  EXPECT_EQ(authority.path, "/pa%20th/") << "stores differ in what it means, so it is left to them";
}

TEST(UrlAuthority, MayHaveAPasswordWithoutAUserWhereTheStoreHasADefaultUser) {
  const Authority authority = Authority::parse("//:secret@host/", rules_of_one_host);
  EXPECT_EQ(authority.user, "");
  EXPECT_EQ(authority.password, "secret");
  EXPECT_EQ(authority.hosts[0].name, "host");
}

TEST(UrlAuthority, IsRefusedIfItIsOddAndNeverRepeated) {
  struct Case {
    const char* text;
    const char* hint;
  };
  for (const auto& [text, hint] : {Case{"hunter2", "two slashes"},
                                   {"//", "no host"},
                                   {"//host,", "no host"},
                                   {"//user:hunter2@", "no host"},
                                   {"//hunter2@host", "user:password@host"},
                                   {"//hunter2:@host", "user:password@host"},
                                   {"//:hunter2@host", "user:password@host"},
                                   {"//host:hunter2", "port"},
                                   {"//hunter2:hunter2@host,::1", "[brackets]"}}) {
    expect_refusal(test::error_of([&] { static_cast<void>(Authority::parse(text, rules)); }), hint, text);
  }
  for (const auto& [text, hint] : {Case{"//hunter2@host", "no password"},
                                   {"//host/hunter2", "has a path"},
                                   {"//host,hunter2", "more than 1 host"}}) {
    expect_refusal(test::error_of([&] { static_cast<void>(Authority::parse(text, rules_of_one_host)); }), hint, text);
  }
}

TEST(UrlAuthority, NamesNoMoreHostsThanAnybodyHas) {
  std::string hosts = "//host";
  for (int i = 1; i < 64; ++i) hosts += ",host";
  EXPECT_EQ(Authority::parse(hosts, rules).hosts.size(), 64U);
  expect_refusal(test::error_of([&] { static_cast<void>(Authority::parse(hosts + ",host", rules)); }),
                 "more than 64 hosts", hosts);
}

TEST(UrlOptions, APrefixIsMadeOfPlainCharactersAndWhatTheStoreAllowsBesides) {
  EXPECT_EQ(parse_prefix("Az09._-", "stone", ""), "Az09._-");
  EXPECT_EQ(parse_prefix("a:b/c", "stone", ":/"), "a:b/c");
  EXPECT_EQ(parse_prefix(std::string(64, 'x'), "stone", "").size(), 64U);
  for (const std::string& value : {std::string(), std::string("hunter2{"), std::string("hunter2:"),
                                   std::string("hunter2\xc3\xa4"), std::string(65, 'x')}) {
    expect_refusal(test::error_of([&] { static_cast<void>(parse_prefix(value, "stone", "/")); }), ". _ - /", value);
  }
}

TEST(UrlOptions, ACertificateNeedsItsKey) {
  TlsFiles files;
  EXPECT_TRUE(files.set("ca", "/a"));
  files.check("stone");
  EXPECT_TRUE(files.set("cert", "/hunter2"));
  expect_refusal(test::error_of([&] { files.check("stone"); }), "both cert and key", "cert");
  EXPECT_TRUE(files.set("key", "/k"));
  files.check("stone");
  EXPECT_FALSE(files.set("verify", "no"));
  EXPECT_EQ(files.authorities_file, "/a");
  EXPECT_EQ(files.certificate_file, "/hunter2");
  EXPECT_EQ(files.key_file, "/k");
}

}  // namespace
}  // namespace holdfast::kit
