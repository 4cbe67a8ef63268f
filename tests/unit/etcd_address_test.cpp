#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "backends/etcd/address.hpp"
#include "base/url.hpp"
#include "holdfast/error.hpp"
#include "support/errors.hpp"

namespace holdfast::etcd {
namespace {

Address address_in(const std::string& url) { return Address::parse(base::Url::parse(url)); }

TEST(EtcdAddress, HasDefaults) {
  const Address address = address_in("etcd://host");
  EXPECT_EQ(address.servers, std::vector<std::string>{"host:2379"});
  EXPECT_FALSE(address.uses_tls);
  EXPECT_TRUE(address.user.empty());
  EXPECT_EQ(address.prefix, "holdfast");
}

TEST(EtcdAddress, NamesAllServers) {
  const std::vector<std::string> expected = {"a:2379", "b:1", "[::1]:2379", "[::2]:3"};
  EXPECT_EQ(address_in("etcd://a,b:1,[::1],[::2]:3").servers, expected);
}

TEST(EtcdAddress, HasAUserAndAPassword) {
  const Address address = address_in("etcds://us%40er:pass%2Fword@host?prefix=fleet&ca=/a&cert=/c&key=/k");
  EXPECT_TRUE(address.uses_tls);
  EXPECT_EQ(address.user, "us@er");
  EXPECT_EQ(address.password, "pass/word");
  EXPECT_EQ(address.prefix, "fleet");
  EXPECT_EQ(address.tls.authorities_file, "/a");
  EXPECT_EQ(address.tls.certificate_file, "/c");
  EXPECT_EQ(address.tls.key_file, "/k");
  EXPECT_EQ(address.shown().find("pass"), std::string::npos);
  EXPECT_NE(address.shown().find("host:2379"), std::string::npos);
}

TEST(EtcdAddress, IsRefusedIfItIsOddAndNeverRepeated) {
  struct Case {
    const char* url;
    const char* hint;
  };
  for (const auto& [url, hint] : {Case{"etcd:hunter2", "two slashes"},
                                  {"etcd://", "no host"},
                                  {"etcd://a,hunter2%2C", "no host"},
                                  {"etcd://hunter2@host", "user:password@host"},
                                  {"etcd://:hunter2@host", "user:password@host"},
                                  {"etcd://host/hunter2", "has a path"},
                                  {"etcd://host?prefix=hunter2:", "prefix"},
                                  {"etcd://host?ca=hunter2", "unknown option"},
                                  {"etcds://host?cert=hunter2", "both cert and key"},
                                  {"etcds://host?verify=hunter2", "unknown option"}}) {
    const std::optional<Error> refusal = test::error_of([&] { static_cast<void>(address_in(url)); });
    ASSERT_TRUE(refusal) << url;
    EXPECT_EQ(refusal->errc(), Errc::bad_url) << url;
    EXPECT_NE(std::string(refusal->what()).find(hint), std::string::npos) << url << ": " << refusal->what();
    EXPECT_EQ(std::string(refusal->what()).find("hunter2"), std::string::npos) << url << ": " << refusal->what();
  }
}

}  // namespace
}  // namespace holdfast::etcd
