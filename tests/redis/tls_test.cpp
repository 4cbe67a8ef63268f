// Whom we trust, and who trusts us.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/file_descriptor.hpp"
#include "holdfast/holdfast.hpp"
#include "redis/certificates.hpp"
#include "redis/fake_server.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis_suite {
namespace {

using namespace std::chrono_literals;
using test::RedisServer;

class RedisTls : public testing::Test {
 protected:
  RedisTls() { certificates_.issue("server", "IP:127.0.0.1,DNS:localhost"); }

  RedisServer start(const std::string& owner, const std::string& clients = "no") const {
    return RedisServer({.arguments = {"--tls-cert-file", certificates_.certificate_of(owner), "--tls-key-file",
                                      certificates_.key_of(owner), "--tls-ca-cert-file", certificates_.authority(),
                                      "--tls-auth-clients", clients},
                        .tls = true});
  }
  std::string url(const RedisServer& server, const std::string& options = "") const {
    return "rediss://127.0.0.1:" + server.port() + "?ca=" + certificates_.authority() + options;
  }

  static std::optional<Error> complaint_at(const std::string& url) {
    Client client(url, {.connect_timeout = 15s});
    return test::error_of([&] { Mutex(client, "name").lock(); });
  }
  static void expect_complaint(const std::string& url, Errc code, const std::string& hint) {
    const std::optional<Error> error = complaint_at(url);
    ASSERT_TRUE(error) << hint;
    EXPECT_EQ(error->errc(), code) << error->what();
    EXPECT_NE(std::string(error->what()).find(hint), std::string::npos) << error->what();
  }
  /// As above, and an authority would not help.
  static void expect_no_advice_about_authorities(const std::string& url) {
    EXPECT_EQ(std::string(complaint_at(url).value().what()).find("?ca="), std::string::npos) << url;
  }

  const Certificates certificates_;
  const test::TemporaryDirectory directory_;  ///< for files that change
};

TEST_F(RedisTls, CarriesLocksAndWhatTheyAreTold) {
  const RedisServer server = start("server");
  Client one(url(server));
  Client two(url(server));
  Hold hold = Mutex(one, "name").acquire();
  test::Background waiter([&](std::stop_token stop) { return Mutex(two, "name").acquire(stop).valid(); });
  EXPECT_TRUE(test::eventually([&] { return one.show("name")->waiters.size() == 1; }));
  hold = {};
  EXPECT_TRUE(waiter.take());
  Register large(one, "large");
  const std::string value(1 << 20, 'x');
  large.set(value);
  EXPECT_EQ(large.get().value, value);
  EXPECT_FALSE(complaint_at("rediss://localhost:" + server.port() + "?ca=" + certificates_.authority()));
}

TEST_F(RedisTls, TrustsNobodyItDoesNotKnow) {
  const RedisServer server = start("server");
  expect_complaint("rediss://127.0.0.1:" + server.port(), Errc::access_denied, "cannot trust");
  expect_complaint("rediss://127.0.0.1:" + server.port(), Errc::access_denied, "?ca=file");
  EXPECT_FALSE(complaint_at("rediss://127.0.0.1:" + server.port() + "?verify=no"));
}

TEST_F(RedisTls, TrustsOnlyTheRightHost) {
  certificates_.issue("stranger", "DNS:elsewhere.example");
  const RedisServer server = start("stranger");
  expect_complaint(url(server), Errc::access_denied, "IP address mismatch");
  expect_complaint(url(server), Errc::access_denied, "write a host that the certificate names");
  expect_no_advice_about_authorities("rediss://127.0.0.1:" + server.port() + "?ca=" + certificates_.authority());
  expect_complaint("rediss://localhost:" + server.port() + "?ca=" + certificates_.authority(), Errc::access_denied,
                   "hostname mismatch");
  EXPECT_FALSE(complaint_at(url(server, "&verify=no")));
}

TEST_F(RedisTls, TrustsNothingThatHasExpired) {
  certificates_.issue("late", "IP:127.0.0.1", -1);
  const RedisServer server = start("late");
  expect_complaint(url(server), Errc::access_denied, "expired");
  expect_complaint(url(server), Errc::access_denied, "renew it");
}

TEST_F(RedisTls, SaysThatAServerIsTooOld) {
  const FakeServer old(std::string("\x15\x03\x01\x00\x02\x02\x46", 7));  // a fatal alert: protocol version
  expect_complaint("rediss://" + old.address(), Errc::store_failed, "versions before 1.2");
}

TEST_F(RedisTls, ShowsAClientsCertificate) {
  certificates_.issue("client", "DNS:client");
  const RedisServer server = start("server", "yes");
  expect_complaint(url(server), Errc::access_denied, "certificate");
  EXPECT_FALSE(complaint_at(
      url(server, "&cert=" + certificates_.certificate_of("client") + "&key=" + certificates_.key_of("client"))));
}

TEST_F(RedisTls, SaysWhichFileItCannotUse) {
  const RedisServer server = start("server");
  expect_complaint("rediss://127.0.0.1:" + server.port() + "?ca=/nowhere.pem", Errc::bad_url, "/nowhere.pem");
  expect_complaint(url(server, "&cert=/nowhere.crt&key=/nowhere.key"), Errc::bad_url, "/nowhere.crt");
}

TEST_F(RedisTls, TriesAFileAgainThatHasBeenMended) {
  const RedisServer server = start("server");
  const std::filesystem::path file = directory_.path() / "ca.crt";
  Client client("rediss://127.0.0.1:" + server.port() + "?ca=" + file.string());
  Mutex mutex(client, "name");
  const auto error = test::error_of([&] { mutex.lock(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::bad_url) << error->what();
  std::filesystem::copy_file(certificates_.authority(), file);
  EXPECT_TRUE(mutex.try_acquire_for(10s));
}

TEST_F(RedisTls, ReadsAFileAgainThatHasBeenReplaced) {
  certificates_.issue("stranger", "IP:127.0.0.1");
  const RedisServer server = start("server");
  const std::filesystem::path file = directory_.path() / "ca.crt";
  std::filesystem::copy_file(certificates_.certificate_of("stranger"), file);
  Client client("rediss://127.0.0.1:" + server.port() + "?ca=" + file.string());
  Mutex mutex(client, "name");
  const auto error = test::error_of([&] { mutex.lock(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::access_denied) << error->what();
  std::filesystem::copy_file(certificates_.authority(), file, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(mutex.try_acquire_for(10s));
}

/// A disk that does not answer: nobody writes into the pipe yet, so that whoever opens it waits.
TEST_F(RedisTls, AFileThatTakesLongDelaysOnlyItsOwnConnection) {
  const RedisServer server = start("server");
  const std::string pipe = (directory_.path() / "ca.crt").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Client client("rediss://127.0.0.1:" + server.port() + "?ca=" + pipe);
  Mutex mutex(client, "name");
  test::Background impatient([&](const std::stop_token&) { return mutex.try_lock_for(300ms); });
  EXPECT_TRUE(impatient.finishes(5s)) << "the client's monitor is blocked";
  std::optional<base::FileDescriptor> writer(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
  const std::filesystem::path whole = directory_.path() / "whole.crt";
  std::filesystem::copy_file(certificates_.authority(), whole);
  std::filesystem::rename(whole, pipe);  // whoever opens it next has a file
  std::ifstream file(pipe);
  const std::string authority{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(::write(writer->get(), authority.data(), authority.size()), static_cast<ssize_t>(authority.size()));
  writer.reset();
  test::Background patient([&](const std::stop_token& stop) { return mutex.acquire(stop).valid(); });
  EXPECT_TRUE(patient.finishes());
}

TEST_F(RedisTls, IsNotSpokenAtAPlainPort) {
  const RedisServer server;  // waits for the end of what it takes for a command
  expect_complaint(url(server), Errc::unreachable, "does it speak TLS");
  const FakeServer plain("-ERR unknown command\r\n");
  expect_complaint("rediss://" + plain.address(), Errc::store_failed, "does not speak TLS");
}

TEST_F(RedisTls, IsNotUsedWhereTheUrlDoesNotSaySo) {
  const RedisServer server = start("server");
  const std::optional<Error> error = complaint_at("redis://127.0.0.1:" + server.port());
  ASSERT_TRUE(error);
  EXPECT_NE(error->errc(), Errc::busy) << error->what();
}

}  // namespace
}  // namespace holdfast::redis_suite
