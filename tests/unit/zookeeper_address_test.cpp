#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backends/zookeeper/address.hpp"
#include "holdfast/error.hpp"
#include "support/errors.hpp"

namespace holdfast::zookeeper {
namespace {

Address parse(const std::string& url) { return Address::parse(base::Url::parse(url)); }

std::optional<Error> refusal_of(const std::string& url) {
  return test::error_of([&] { static_cast<void>(parse(url)); });
}

TEST(ZookeeperAddress, HasAPortAndAPrefixAndIsFairEvenIfNobodySaysSo) {
  const Address address = parse("zookeeper://localhost");
  ASSERT_EQ(address.hosts.size(), 1U);
  EXPECT_EQ(address.hosts[0].name, "localhost");
  EXPECT_EQ(address.hosts[0].port, "2181");
  EXPECT_EQ(address.root(), "/holdfast");
  EXPECT_TRUE(address.fair);
  EXPECT_EQ(address.user, "");
}

TEST(ZookeeperAddress, SaysEverythingInOneLine) {
  const Address address =
      parse("zookeeper://ann:p%40ss%3Aw%2Frd@h1:1,h2,[::1]:3,10.0.0.1/services/locks?prefix=app&fair=false");
  EXPECT_EQ(address.user, "ann");
  EXPECT_EQ(address.password, "p@ss:w/rd");
  ASSERT_EQ(address.hosts.size(), 4U);
  EXPECT_EQ(address.hosts[2].name, "::1");
  EXPECT_EQ(address.hosts[2].port, "3");
  EXPECT_EQ(address.root(), "/services/locks/app");
  EXPECT_FALSE(address.fair);
  EXPECT_EQ(address.shown(), "zookeeper at h1:1,h2:2181,[::1]:3,10.0.0.1:2181");
  EXPECT_TRUE(parse("zookeeper://h/?fair=true").fair);
}

TEST(ZookeeperAddress, WhatMakesNoSenseIsRefusedWithoutRepeatingIt) {
  for (const char* const url : {"zookeeper:h",
                                "zookeeper://",
                                "zookeeper://h,",
                                "zookeeper://h:0",
                                "zookeeper://h:65536",
                                "zookeeper://h:x",
                                "zookeeper://::1",
                                "zookeeper://[::1",
                                "zookeeper://[::1]x",
                                "zookeeper://secret@h",
                                "zookeeper://secret:@h",
                                "zookeeper://:secret@h",
                                "zookeeper://a%3Asecret:x@h",
                                "zookeeper://h/secret/",
                                "zookeeper://h//secret",
                                "zookeeper://h/secret/../x",
                                "zookeeper://h/./secret",
                                "zookeeper://h/zookeeper",
                                "zookeeper://h/zookeeper/x",
                                "zookeeper://h?prefix=",
                                "zookeeper://h?prefix=a/secret",
                                "zookeeper://h?prefix=..",
                                "zookeeper://h?prefix=zookeeper",
                                "zookeeper://h?secret=1",
                                "zookeeper://h?fair=secret",
                                "zookeeper://h?fair="}) {
    const auto refusal = refusal_of(url);
    ASSERT_TRUE(refusal) << url;
    EXPECT_EQ(refusal->errc(), Errc::bad_url) << url;
    EXPECT_EQ(std::string(refusal->what()).find("secret"), std::string::npos) << url;
  }
}

TEST(ZookeeperAddress, NamesNoMoreHostsThanAnybodyHas) {
  std::string hosts = "h";
  for (int i = 1; i < 64; ++i) hosts += ",h";
  EXPECT_EQ(parse("zookeeper://" + hosts).hosts.size(), 64U);
  EXPECT_TRUE(refusal_of("zookeeper://" + hosts + ",h"));
}

}  // namespace
}  // namespace holdfast::zookeeper
