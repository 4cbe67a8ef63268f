#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backends/redis/connection/address.hpp"
#include "holdfast/error.hpp"
#include "support/errors.hpp"

namespace holdfast::redis {
namespace {

using Transport = Address::Transport;

Address parse(const std::string& url) { return Address::parse(base::Url::parse(url)); }

std::optional<Error> refusal_of(const std::string& url) {
  return test::error_of([&] { static_cast<void>(parse(url)); });
}

TEST(RedisAddress, HasAPortADatabaseAndAPrefixEvenIfNobodySaysSo) {
  const Address address = parse("redis://localhost");
  EXPECT_EQ(address.transport, Transport::tcp);
  EXPECT_EQ(address.host, "localhost");
  EXPECT_EQ(address.port, "6379");
  EXPECT_EQ(address.database, 0);
  EXPECT_EQ(address.prefix, "holdfast");
  EXPECT_EQ(address.user, "");
  EXPECT_EQ(address.password, "");
  EXPECT_TRUE(address.tls.verify);
}

TEST(RedisAddress, SaysEverythingInOneLine) {
  const Address address = parse(
      "rediss://ann:p%40ss%3Aw%2Frd@db.example:7000/3?prefix=app:locks&ca=/etc/ca.pem&cert=/c.pem&key=/"
      "k.pem&verify=no");
  EXPECT_EQ(address.transport, Transport::tls);
  EXPECT_EQ(address.user, "ann");
  EXPECT_EQ(address.password, "p@ss:w/rd");
  EXPECT_EQ(address.host, "db.example");
  EXPECT_EQ(address.port, "7000");
  EXPECT_EQ(address.database, 3);
  EXPECT_EQ(address.prefix, "app:locks");
  EXPECT_EQ(address.tls.authorities_file, "/etc/ca.pem");
  EXPECT_EQ(address.tls.certificate_file, "/c.pem");
  EXPECT_EQ(address.tls.key_file, "/k.pem");
  EXPECT_FALSE(address.tls.verify);
}

TEST(RedisAddress, MayHaveAPasswordWithoutAUser) {
  const Address address = parse("redis://:secret@localhost/");
  EXPECT_EQ(address.user, "");
  EXPECT_EQ(address.password, "secret");
  EXPECT_EQ(address.database, 0);
}

TEST(RedisAddress, MayBeANumber) {
  EXPECT_EQ(parse("redis://127.0.0.1:1").host, "127.0.0.1");
  EXPECT_EQ(parse("redis://[::1]:7001").host, "::1");
  EXPECT_EQ(parse("redis://[::1]:7001").port, "7001");
  EXPECT_EQ(parse("redis://[::1]").port, "6379");
  EXPECT_EQ(parse("redis://[::1]:7001").shown(), "redis at [::1]:7001");
}

TEST(RedisAddress, MayBeAUnixSocket) {
  const Address address = parse("redis+unix:/run/my%20redis.sock?db=2&user=ann&password=secret");
  EXPECT_EQ(address.transport, Transport::unix_socket);
  EXPECT_EQ(address.path, "/run/my redis.sock");
  EXPECT_EQ(address.database, 2);
  EXPECT_EQ(address.user, "ann");
  EXPECT_EQ(address.password, "secret");
  EXPECT_EQ(parse("redis+unix:///run/redis.sock").path, "/run/redis.sock");
}

TEST(RedisAddress, IsRefusedIfItIsOddAndNeverRepeated) {
  struct Case {
    const char* url;
    const char* hint;
  };
  for (const auto& [url, hint] : {Case{"redis:hunter2", "two slashes"},
                                  {"redis://", "no host"},
                                  {"redis://:hunter2@", "no host"},
                                  {"redis://hunter2@localhost", "no password"},
                                  {"redis://localhost:hunter2", "port"},
                                  {"redis://localhost:0", "port"},
                                  {"redis://localhost:65536", "port"},
                                  {"redis://::1", "[brackets]"},
                                  {"redis://[::1", "']'"},
                                  {"redis://[::1]hunter2", "']'"},
                                  {"redis://localhost/hunter2", "database"},
                                  {"redis://localhost/-1", "database"},
                                  {"redis://localhost?prefix=", "prefix"},
                                  {"redis://localhost?prefix=a%7Bb", "prefix"},
                                  {"redis://localhost?layout=hunter2", "layout"},
                                  {"redis://localhost?hunter2=x", "unknown option"},
                                  {"redis://localhost?ca=/x", "rediss:"},
                                  {"rediss://localhost?cert=/x", "both cert and key"},
                                  {"rediss://localhost?verify=maybe", "verify"},
                                  {"redis://localhost?password=hunter2", "unknown option"},
                                  {"redis+unix:/x.sock?user=ann", "no password"},
                                  {"redis+unix:relative.sock", "absolute path"}}) {
    const std::optional<Error> refusal = refusal_of(url);
    ASSERT_TRUE(refusal) << url;
    EXPECT_EQ(refusal->errc(), Errc::bad_url) << url;
    EXPECT_NE(std::string(refusal->what()).find(hint), std::string::npos) << url << ": " << refusal->what();
    EXPECT_EQ(std::string(refusal->what()).find("hunter2"), std::string::npos) << url << ": " << refusal->what();
  }
}

TEST(RedisAddress, IsShownWithoutSecrets) {
  EXPECT_EQ(parse("redis://ann:secret@localhost:7000/3").shown(), "redis at localhost:7000");
  EXPECT_EQ(parse("redis+unix:/run/redis.sock?password=secret").shown(), "redis at /run/redis.sock");
}

}  // namespace
}  // namespace holdfast::redis
