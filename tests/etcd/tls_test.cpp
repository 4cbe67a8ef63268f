// Whom we trust, and who trusts us.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/file_descriptor.hpp"
#include "holdfast/holdfast.hpp"
#include "redis/certificates.hpp"
#include "redis/fake_server.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

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
  expect_complaint(url(server), Errc::access_denied, "certificate for another host");
  EXPECT_EQ(std::string(complaint_at(url(server)).value().what()).find("?ca="), std::string::npos);
}

TEST_F(EtcdTls, SaysThatAServerIsTooOld) {
  const redis_suite::FakeServer old(std::string("\x15\x03\x01\x00\x02\x02\x46", 7));  // a fatal alert: protocol version
  expect_complaint("etcds://" + old.address(), Errc::store_failed, "versions of TLS before 1.2");
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
  expect_complaint("etcds://127.0.0.1:1?ca=/etc", Errc::bad_url, "'/etc'");
}

TEST_F(EtcdTls, SaysThatACertificateAndAKeyDoNotBelongTogether) {
  const EtcdServer server = start("server", true);
  const std::string client = "&cert=" + certificates_.certificate_of("client");
  expect_complaint(url(server, client + "&key=" + certificates_.key_of("server")), Errc::access_denied,
                   "belong together");
}

/// A file that takes as long to read as it likes, as on a network file system whose server is away.
class SlowFile {
 public:
  SlowFile() {
    if (::mkfifo(path().c_str(), 0600) != 0) throw std::runtime_error("no pipe with a name");
  }
  /// Whoever reads it must not be left behind.
  ~SlowFile() {
    if (!written_) static_cast<void>(writer());
  }
  SlowFile(const SlowFile&) = delete;
  SlowFile& operator=(const SlowFile&) = delete;

  std::string path() const { return (directory_.path() / "slow.crt").string(); }
  /// Whether somebody comes to read it.
  bool is_being_read() {
    return test::eventually([&] { return static_cast<bool>(writer()); });
  }
  /// All of it can be read now.
  void fill_from(const std::string& file) {
    std::ifstream stream(file);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    ASSERT_EQ(::write(writer().get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    written_ = true;
    writer_ = {};
  }

 private:
  /// There is one as soon as there is a reader.
  const base::FileDescriptor& writer() {
    if (!writer_) writer_ = base::FileDescriptor(::open(path().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    return writer_;
  }

  const test::TemporaryDirectory directory_;
  base::FileDescriptor writer_;
  bool written_ = false;
};

TEST_F(EtcdTls, HoldsNobodyUpWhileAFileIsRead) {
  const EtcdServer server = start("server");
  SlowFile authorities;
  Client client(server.url() + "?ca=" + authorities.path());
  test::Background locking([&](std::stop_token stop) { return Mutex(client, "name").acquire(stop).valid(); });
  ASSERT_TRUE(authorities.is_being_read());
  test::Background looking([&](const std::stop_token&) { return client.health().holds; });
  const bool looked = looking.finishes(5s);
  const auto begin = std::chrono::steady_clock::now();
  const auto error =
      looked ? test::error_of([&] { static_cast<void>(Mutex(client, "other").try_acquire_for(100ms)); }) : std::nullopt;
  const auto end = std::chrono::steady_clock::now();
  authorities.fill_from(certificates_.authority());
  EXPECT_TRUE(looked) << "whoever enters the client does not wait for the file";
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::unreachable) << error->what();
  EXPECT_LT(end - begin, 3s);
  EXPECT_TRUE(locking.take());
}

TEST_F(EtcdTls, ReadsItsFilesAgainUntilTheyCanBeUsed) {
  const EtcdServer server = start("server");
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "ca.crt").string();
  const auto put = [&](const std::string& other) {
    std::filesystem::copy_file(other, file, std::filesystem::copy_options::overwrite_existing);
  };
  Client client(server.url() + "?ca=" + file);
  const auto complaint = [&] { return test::error_of([&] { Mutex(client, "name").acquire().release(); }); };
  const auto missing = complaint();
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->errc(), Errc::bad_url) << missing->what();
  EXPECT_NE(std::string(missing->what()).find(file), std::string::npos) << missing->what();
  const redis_suite::Certificates strangers;
  put(strangers.authority());
  const auto distrusted = complaint();
  ASSERT_TRUE(distrusted);
  EXPECT_EQ(distrusted->errc(), Errc::access_denied) << distrusted->what();
  put(certificates_.authority());
  EXPECT_FALSE(complaint());
}

}  // namespace
}  // namespace holdfast::etcd_suite
