// Whom we trust, and who trusts us.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "holdfast/holdfast.hpp"
#include "redis/certificates.hpp"
#include "redis/fake_server.hpp"
#include "support/errors.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::EtcdServer;

class EtcdTls : public testing::Test {
 protected:
  EtcdTls() {
    certificates_.issue("server", "IP:127.0.0.1,DNS:localhost");
    certificates_.issue("client", "DNS:client.example");
  }

  EtcdServer start(const std::string& owner, bool wants_clients = false) const {
    std::vector<std::string> arguments = {"--cert-file", certificates_.certificate_of(owner), "--key-file",
                                          certificates_.key_of(owner)};
    if (wants_clients) {
      arguments.insert(arguments.end(), {"--client-cert-auth", "--trusted-ca-file", certificates_.authority()});
    }
    return EtcdServer({.arguments = arguments,
                       .tls = true,
                       .client_arguments = {"--insecure-skip-tls-verify", "--insecure-transport=false",
                                            "--cert=" + certificates_.certificate_of("client"),
                                            "--key=" + certificates_.key_of("client")}});
  }
  std::string url(const EtcdServer& server, const std::string& options = "") const {
    return server.url() + "?ca=" + certificates_.authority() + options;
  }
  static std::optional<Error> complaint_at(const std::string& url) {
    Client client(url, {.connect_timeout = 15s});
    return test::error_of([&] { Mutex(client, "name").acquire().release(); });
  }
  static void expect_complaint(const std::string& url, Errc code, const std::string& hint) {
    const std::optional<Error> error = complaint_at(url);
    ASSERT_TRUE(error) << hint;
    EXPECT_EQ(error->errc(), code) << error->what();
    EXPECT_NE(std::string(error->what()).find(hint), std::string::npos) << error->what();
  }

  const redis_suite::Certificates certificates_;
};

TEST_F(EtcdTls, CarriesLocks) {
  const EtcdServer server = start("server");
  EXPECT_FALSE(complaint_at(url(server)));
  EXPECT_FALSE(complaint_at("etcds://localhost:" + server.port() + "?ca=" + certificates_.authority()));
}

TEST_F(EtcdTls, TrustsNobodyItDoesNotKnow) {
  const EtcdServer server = start("server");
  expect_complaint(server.url(), Errc::access_denied, "cannot be trusted");
}

TEST_F(EtcdTls, TrustsOnlyTheRightHost) {
  certificates_.issue("stranger", "DNS:elsewhere.example");
  const EtcdServer server = start("stranger");
  expect_complaint(url(server), Errc::access_denied, "another host");
  EXPECT_EQ(std::string(complaint_at(url(server)).value().what()).find("?ca="), std::string::npos);
}

TEST_F(EtcdTls, SaysThatAServerIsTooOld) {
  const redis_suite::FakeServer old(std::string("\x15\x03\x01\x00\x02\x02\x46", 7));  // a fatal alert: protocol version
  expect_complaint("etcds://" + old.address(), Errc::store_failed, "versions before 1.2");
}

TEST_F(EtcdTls, TrustsNoCertificateOfThePast) {
  certificates_.issue("old", "IP:127.0.0.1", 0);
  const EtcdServer server = start("old");
  expect_complaint(url(server), Errc::access_denied, "it has expired");
}

TEST_F(EtcdTls, ShowsItsCertificateIfTheServerWantsOne) {
  const EtcdServer server = start("server", true);
  EXPECT_FALSE(complaint_at(
      url(server, "&cert=" + certificates_.certificate_of("client") + "&key=" + certificates_.key_of("client"))));
  const auto refused = complaint_at(url(server));
  ASSERT_TRUE(refused);
  EXPECT_TRUE(refused->errc() == Errc::access_denied || refused->errc() == Errc::unreachable) << refused->what();
}

TEST_F(EtcdTls, SaysWhichFileCannotBeUsed) {
  expect_complaint("etcds://127.0.0.1:1?ca=/no/such/file", Errc::bad_url, "/no/such/file");
}

}  // namespace
}  // namespace holdfast::etcd_suite
