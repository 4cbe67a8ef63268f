// What is said when something is wrong with the servers, the URL or the permissions; and never a password.

#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "holdfast/holdfast.hpp"
#include "redis/fake_server.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::EtcdServer;

constexpr const char* secret = "Geheim-4711";

std::optional<Error> complaint_at(const std::string& url) {
  return test::error_of([&] {
    Client client(url, {.connect_timeout = 2s});
    Mutex(client, "name").lock();
  });
}

void expect_complaint(const std::string& url, Errc code, const std::string& hint) {
  const std::optional<Error> error = complaint_at(url);
  ASSERT_TRUE(error) << hint;
  EXPECT_EQ(error->errc(), code) << error->what();
  EXPECT_NE(std::string(error->what()).find(hint), std::string::npos) << error->what();
  EXPECT_EQ(std::string(error->what()).find(secret), std::string::npos) << error->what();
}

/// A cluster with users: root and app, which may use what begins with holdfast/.
class EtcdUsers : public testing::Test {
 protected:
  EtcdUsers() {
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"user", "add", "root:" + std::string(secret)},
             {"user", "grant-role", "root", "root"},
             {"role", "add", "app"},
             {"role", "grant-permission", "app", "--prefix=true", "readwrite", "holdfast/"},
             {"user", "add", "app:" + std::string(secret)},
             {"user", "grant-role", "app", "app"},
             {"auth", "enable"}}) {
      server_.command(command);
    }
    server_.enter_as("root:" + std::string(secret));
  }

  std::string url(const std::string& user, const std::string& password) const {
    return "etcd://" + user + ":" + password + "@" + server_.hosts();
  }

  // Cheap passwords: checking one takes a processor a tenth of a second otherwise.
  EtcdServer server_{{.arguments = {"--auth-token", "simple", "--bcrypt-cost", "4"}}};
};

TEST(EtcdErrors, SayThatNobodyIsThere) {
  expect_complaint("etcd://127.0.0.1:1", Errc::unreachable, "refused the connection");
  expect_complaint("etcd://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", Errc::unreachable, "refused the connection");
  expect_complaint("etcd://no-such-host.invalid", Errc::unreachable, "no-such-host.invalid");
}

TEST(EtcdErrors, SayThatItIsNotEtcd) {
  const redis_suite::FakeServer server("-ERR what do you want?\r\n");
  const std::optional<Error> error = complaint_at("etcd://" + server.address());
  ASSERT_TRUE(error);
  EXPECT_TRUE(error->errc() == Errc::unreachable || error->errc() == Errc::store_failed) << error->what();
}

TEST(EtcdErrors, SayWhatIsWrongWithTheUrl) {
  const std::string password = secret;
  for (const std::string& url :
       {std::string("etcd:"), std::string("etcd:host"), std::string("etcd://"), std::string("etcd://host:0"),
        std::string("etcd://host:x"), std::string("etcd://a,,b"), std::string("etcd://::1"), std::string("etcd://[::1"),
        std::string("etcd://host/path"), std::string("etcd://host?nonsense=1"), std::string("etcd://host?prefix="),
        std::string("etcd://host?ca=/x"), std::string("etcds://host?cert=/x"), "etcd://" + password + "@host",
        "etcd://:" + password + "@host"}) {
    const auto error = complaint_at(url);
    ASSERT_TRUE(error) << url;
    EXPECT_EQ(error->errc(), Errc::bad_url) << url;
    EXPECT_EQ(std::string(error->what()).find(password), std::string::npos) << error->what();
  }
}

TEST_F(EtcdUsers, EnterWithTheirPassword) {
  Client client(url("app", secret));
  Hold hold = Mutex(client, "mine").acquire();
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(client.list("").size(), 1U);
  EXPECT_EQ(hold.release(), Released::released);
}

TEST_F(EtcdUsers, AreToldWhatIsWrong) {
  expect_complaint(url("app", "wrong-" + std::string(secret)), Errc::access_denied, "password");
  expect_complaint(url("nobody", secret), Errc::access_denied, "password");
  expect_complaint("etcd://" + server_.hosts(), Errc::access_denied, "requires a password");
  expect_complaint(url("app", secret) + "?prefix=elsewhere", Errc::access_denied, "does not allow");
}

TEST_F(EtcdUsers, LogInAgainWhenTheirTokenIsForgotten) {
  Client client(url("app", secret));
  Hold hold = Mutex(client, "mine", {.ttl = 60s}).acquire();
  server_.stop();  // simple tokens are not kept
  server_.start();
  EXPECT_TRUE(test::eventually([&] { return !test::error_of([&] { Mutex(client, "other").acquire().release(); }); }));
  EXPECT_EQ(hold.release(), Released::released);
}

TEST(EtcdErrors, SayThatThereIsNoUser) {
  const EtcdServer server;
  expect_complaint("etcd://app:" + std::string(secret) + "@" + server.hosts(), Errc::access_denied,
                   "has no authentication enabled");
}

}  // namespace
}  // namespace holdfast::etcd_suite
