#include "backends/redis/redis_url.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "holdfast/error.hpp"
#include "support/errors.hpp"

namespace holdfast::redis {
namespace {

using Transport = ServerAddress::Transport;

RedisUrl parse(const std::string& url) { return RedisUrl::parse(base::Url::parse(url)); }

std::optional<Error> refusal_of(const std::string& url) {
  return test::error_of([&] { static_cast<void>(parse(url)); });
}

TEST(RedisUrl, HasAPortADatabaseAndAPrefixEvenIfNobodySaysSo) {
  const RedisUrl url = parse("redis://localhost");
  EXPECT_EQ(url.server.transport, Transport::tcp);
  EXPECT_EQ(url.server.host, "localhost");
  EXPECT_EQ(url.server.port, "6379");
  EXPECT_EQ(url.server.database, 0);
  EXPECT_EQ(url.prefix, "holdfast");
  EXPECT_EQ(url.server.user, "");
  EXPECT_EQ(url.server.password, "");
  EXPECT_TRUE(url.server.tls.verify);
}

TEST(RedisUrl, SaysEverythingInOneLine) {
  const RedisUrl url = parse(
      "rediss://ann:p%40ss%3Aw%2Frd@db.example:7000/3?prefix=app:locks&ca=/etc/ca.pem&cert=/c.pem&key=/"
      "k.pem&verify=no");
  EXPECT_EQ(url.server.transport, Transport::tls);
  EXPECT_EQ(url.server.user, "ann");
  EXPECT_EQ(url.server.password, "p@ss:w/rd");
  EXPECT_EQ(url.server.host, "db.example");
  EXPECT_EQ(url.server.port, "7000");
  EXPECT_EQ(url.server.database, 3);
  EXPECT_EQ(url.prefix, "app:locks");
  EXPECT_EQ(url.server.tls.files.authorities_file, "/etc/ca.pem");
  EXPECT_EQ(url.server.tls.files.certificate_file, "/c.pem");
  EXPECT_EQ(url.server.tls.files.key_file, "/k.pem");
  EXPECT_FALSE(url.server.tls.verify);
}

TEST(RedisUrl, MayHaveAPasswordWithoutAUser) {
  const RedisUrl url = parse("redis://:secret@localhost/");
  EXPECT_EQ(url.server.user, "");
  EXPECT_EQ(url.server.password, "secret");
  EXPECT_EQ(url.server.database, 0);
}

TEST(RedisUrl, MayBeANumber) {
  EXPECT_EQ(parse("redis://127.0.0.1:1").server.host, "127.0.0.1");
  EXPECT_EQ(parse("redis://[::1]:7001").server.host, "::1");
  EXPECT_EQ(parse("redis://[::1]:7001").server.port, "7001");
  EXPECT_EQ(parse("redis://[::1]").server.port, "6379");
  EXPECT_EQ(parse("redis://[::1]:7001").server.shown(), "redis at [::1]:7001");
}

TEST(RedisUrl, MayBeAUnixSocket) {
  const RedisUrl url = parse("redis+unix:/run/my%20redis.sock?db=2&user=ann&password=secret");
  EXPECT_EQ(url.server.transport, Transport::unix_socket);
  EXPECT_EQ(url.server.path, "/run/my redis.sock");
  EXPECT_EQ(url.server.database, 2);
  EXPECT_EQ(url.server.user, "ann");
  EXPECT_EQ(url.server.password, "secret");
  EXPECT_EQ(parse("redis+unix:///run/redis.sock").server.path, "/run/redis.sock");
}

TEST(RedisUrl, IsRefusedIfItIsOddAndNeverRepeated) {
  struct Case {
    const char* url;
    const char* hint;
  };
  for (const auto& [url, hint] : {Case{"redis:hunter2", "two slashes"},
                                  {"redis://", "no host"},
                                  {"redis://:hunter2@", "no host"},
                                  {"redis://hunter2@localhost", "no password"},
                                  {"redis://localhost:hunter2", "port"},
                                  {"redis://one,two", "more than 1 host"},
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

TEST(RedisUrl, IsShownWithoutSecrets) {
  EXPECT_EQ(parse("redis://ann:secret@localhost:7000/3").server.shown(), "redis at localhost:7000");
  EXPECT_EQ(parse("redis+unix:/run/redis.sock?password=secret").server.shown(), "redis at /run/redis.sock");
}

}  // namespace
}  // namespace holdfast::redis
