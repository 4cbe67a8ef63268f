// TLS without a network: a server of our own in memory, and certificates in files.

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "backends/redis/connection/tls.hpp"
#include "backends/redis/connection/tls_library.hpp"
#include "backends/redis/connection/tls_setup.hpp"
#include "support/polling_loop.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&::X509_free)>;

/// Signed by itself.
struct Identity {
  explicit Identity(const std::string& name)
      : key(::EVP_EC_gen("P-256"), &::EVP_PKEY_free), certificate(::X509_new(), &::X509_free) {
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24L * 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const subject = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1,
                               -1, 0);
    X509_set_issuer_name(certificate.get(), subject);
    EXPECT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  }

  void write_to(const std::filesystem::path& path) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), &std::fclose);
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(PEM_write_X509(file.get(), certificate.get()), 1);
  }

  const Key key;
  const Certificate certificate;
};

/// The other side, in memory as well. It speaks TLS 1.2, the last one in which a server may ask to negotiate again.
class Server {
 public:
  explicit Server(const Identity& identity)
      : settings_(SSL_CTX_new(TLS_server_method()), &::SSL_CTX_free),
        session_(nullptr, &::SSL_free),
        from_wire_(BIO_new(BIO_s_mem())),
        to_wire_(BIO_new(BIO_s_mem())) {
    SSL_CTX_set_max_proto_version(settings_.get(), TLS1_2_VERSION);
    EXPECT_EQ(SSL_CTX_use_certificate(settings_.get(), identity.certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(settings_.get(), identity.key.get()), 1);
    session_.reset(SSL_new(settings_.get()));
    SSL_set_bio(session_.get(), from_wire_, to_wire_);
    SSL_set_accept_state(session_.get());
  }

  /// Hears what the client has to send, and answers.
  void exchange_with(TlsSession& client, std::string& plain) {
    for (int round = 0; round < 10; ++round) {
      const std::string heard = std::exchange(client.outgoing(), {});
      if (!heard.empty()) BIO_write(from_wire_, heard.data(), static_cast<int>(heard.size()));
      std::array<char, 4096> buffer = {};
      if (SSL_in_init(session_.get()) != 0) {
        SSL_do_handshake(session_.get());
      } else {
        SSL_read(session_.get(), buffer.data(), static_cast<int>(buffer.size()));
      }
      std::string said;
      for (int count = 0; (count = BIO_read(to_wire_, buffer.data(), static_cast<int>(buffer.size()))) > 0;) {
        said.append(buffer.data(), static_cast<std::size_t>(count));
      }
      if (heard.empty() && said.empty()) return;
      if (!said.empty()) static_cast<void>(client.received(said, plain));
    }
    ADD_FAILURE() << "they never stop talking";
  }

  void say(const std::string& text) {
    EXPECT_EQ(SSL_write(session_.get(), text.data(), static_cast<int>(text.size())), static_cast<int>(text.size()));
  }
  void ask_to_negotiate_again() {
    EXPECT_EQ(SSL_renegotiate(session_.get()), 1);
    SSL_do_handshake(session_.get());
  }
  /// Tells one negotiation that both sides have finished from the next.
  std::string last_negotiation() const {
    std::array<char, 64> proof = {};
    const std::size_t size = SSL_get_peer_finished(session_.get(), proof.data(), proof.size());
    return {proof.data(), size};
  }

 private:
  const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> settings_;
  std::unique_ptr<SSL, decltype(&::SSL_free)> session_;
  BIO* const from_wire_;
  BIO* const to_wire_;
};

class RedisTlsMachine : public testing::Test {
 protected:
  RedisTlsMachine() { one_.write_to(authorities_); }

  const test::TemporaryDirectory directory_;
  const std::filesystem::path authorities_ = directory_.path() / "ca.crt";
  const Identity one_{"one"};
  const ServerAddress address_ = {.transport = ServerAddress::Transport::tls,
                                  .host = "127.0.0.1",
                                  .port = "6379",
                                  .tls = {.files = {.authorities_file = authorities_.string()}, .verify = false}};
  const TlsLibrary& library_ = *TlsLibrary::load();
};

TEST_F(RedisTlsMachine, ReadsFilesAgainOnlyIfTheyHaveChanged) {
  const auto first = TlsContext::read(address_, nullptr);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(TlsContext::read(address_, first.value()).value(), first.value());
  Identity("another one").write_to(authorities_);
  const auto second = TlsContext::read(address_, first.value());
  ASSERT_TRUE(second.ok());
  EXPECT_NE(second.value(), first.value());
  std::filesystem::remove(authorities_);
  const auto third = TlsContext::read(address_, second.value());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.failure().code, Errc::bad_url);
  EXPECT_NE(third.failure().detail.find(authorities_.string()), std::string::npos);
}

TEST_F(RedisTlsMachine, ReadsTheSystemsAuthoritiesOnce) {
  ServerAddress address = address_;
  address.tls.files.authorities_file.clear();
  const auto first = TlsContext::read(address, nullptr);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(TlsContext::read(address, first.value()).value(), first.value());
}

TEST_F(RedisTlsMachine, SaysThatThereIsNoMemory) {
  TlsLibrary library = library_;
  library.SSL_CTX_new = [](const SSL_METHOD*) -> SSL_CTX* { return nullptr; };
  const auto context = TlsContext::read(library, address_, nullptr);
  ASSERT_FALSE(context.ok());
  EXPECT_EQ(context.failure().code, Errc::exhausted);

  const auto outcome_with = [&](auto break_it) {
    TlsLibrary broken = library_;
    break_it(broken);
    const auto settings = TlsContext::read(broken, address_, nullptr);
    return settings.value()->begin();
  };
  for (const auto& session :
       {outcome_with([](TlsLibrary& broken) { broken.SSL_new = [](SSL_CTX*) -> SSL* { return nullptr; }; }),
        outcome_with([](TlsLibrary& broken) { broken.BIO_new = [](const BIO_METHOD*) -> BIO* { return nullptr; }; })}) {
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.failure().code, Errc::exhausted);
  }
}

TEST_F(RedisTlsMachine, SaysThatItCannotTakeWhatCame) {
  TlsLibrary library = library_;
  library.BIO_write = [](BIO*, const void*, int) { return -1; };
  const auto context = TlsContext::read(library, address_, nullptr);
  const auto session = context.value()->begin();
  ASSERT_TRUE(session.ok());
  std::string plain;
  const auto outcome = session.value()->received("x", plain);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().code, Errc::exhausted);
}

TEST_F(RedisTlsMachine, DoesNotNegotiateAgain) {
  Server server(one_);
  std::string plain;
  const auto session = TlsContext::read(address_, nullptr).value()->begin();
  ASSERT_TRUE(session.ok());
  TlsSession& client = *session.value();
  server.exchange_with(client, plain);
  ASSERT_TRUE(client.established());
  server.say("hello");
  server.exchange_with(client, plain);
  EXPECT_EQ(plain, "hello");
  const std::string before = server.last_negotiation();
  EXPECT_FALSE(before.empty());
  server.ask_to_negotiate_again();
  server.exchange_with(client, plain);
  EXPECT_EQ(server.last_negotiation(), before);
}

/// The session has its own hold on what it was begun with.
TEST_F(RedisTlsMachine, OutlivesItsContext) {
  Server server(one_);
  std::string plain;
  auto context = TlsContext::read(address_, nullptr);
  const auto session = context.value()->begin();
  context.value().reset();
  server.exchange_with(*session.value(), plain);
  EXPECT_TRUE(session.value()->established());
  const auto outcome = session.value()->received("no TLS at all", plain);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.failure().detail.find("127.0.0.1:6379"), std::string::npos) << outcome.failure().detail;
}

class RedisTlsSetup : public RedisTlsMachine {
 protected:
  using Answer = std::optional<spi::Result<TlsContext::Pointer>>;

  RedisTlsSetup() { loop_.keeps_blocking_work = true; }

  static TlsSetup::Done keep_in(Answer& answer) {
    return [&answer](spi::Result<TlsContext::Pointer> context) { answer = std::move(context); };
  }
  void do_blocking_work() {
    ASSERT_FALSE(loop_.blocking_work.empty());
    while (!loop_.blocking_work.empty()) {
      auto [work, done] = std::move(loop_.blocking_work.front());
      loop_.blocking_work.pop_front();
      work();
      done();
      loop_.run();
    }
  }

  test::PollingLoop loop_;
  TlsSetup setup_{loop_, address_};
};

TEST_F(RedisTlsSetup, ReadsOnceForAllAndOffTheMonitor) {
  Answer one;
  Answer two;
  const TlsSetup::Preparation first(setup_, keep_in(one));
  const TlsSetup::Preparation second(setup_, keep_in(two));
  loop_.run();
  EXPECT_FALSE(one);
  do_blocking_work();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->value(), two->value());
  Answer later;
  const TlsSetup::Preparation third(setup_, keep_in(later));
  do_blocking_work();
  EXPECT_EQ(later->value(), one->value());
}

TEST_F(RedisTlsSetup, TriesAgainAfterAFailure) {
  std::filesystem::remove(authorities_);
  Answer answer;
  {
    const TlsSetup::Preparation preparation(setup_, keep_in(answer));
    do_blocking_work();
    ASSERT_FALSE(answer->ok());
    EXPECT_EQ(answer->failure().code, Errc::bad_url);
  }
  one_.write_to(authorities_);
  const TlsSetup::Preparation preparation(setup_, keep_in(answer));
  do_blocking_work();
  EXPECT_TRUE(answer->ok());
}

/// However often connections give up because a file takes long, one thread reads. The others have nothing to do: they are
/// asked for because the first may not have been there.
TEST_F(RedisTlsSetup, ReadsOnOneThreadAtATime) {
  Answer none;
  for (int i = 0; i < 10; ++i) const TlsSetup::Preparation given_up(setup_, keep_in(none));
  Answer last;
  const TlsSetup::Preparation preparation(setup_, keep_in(last));
  ASSERT_EQ(loop_.blocking_work.size(), 11U);
  auto [read, done] = std::move(loop_.blocking_work.front());
  loop_.blocking_work.pop_front();
  do_blocking_work();
  EXPECT_FALSE(last) << "the others read nothing";
  read();
  done();
  loop_.run();
  EXPECT_FALSE(none);
  EXPECT_TRUE(last);
}

/// As when one connection's failure closes the others.
TEST_F(RedisTlsSetup, TellsNobodyWhoHasGivenUpMeanwhile) {
  Answer none;
  std::optional<TlsSetup::Preparation> second;
  bool told = false;
  const TlsSetup::Preparation first(setup_, [&](const spi::Result<TlsContext::Pointer>&) {
    told = true;
    second.reset();
  });
  second.emplace(setup_, keep_in(none));
  do_blocking_work();
  EXPECT_TRUE(told);
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace holdfast::redis
