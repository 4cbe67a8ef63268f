// What may be wrong with servers and URLs: a clear message, the right code, in time, and never a secret.

#include "support/errors.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/file_descriptor.hpp"
#include "holdfast/holdfast.hpp"
#include "redis/fake_server.hpp"
#include "support/background.hpp"
#include "support/eventually.hpp"
#include "zookeeper/hand.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;

std::string place() { return "127.0.0.1:" + server().port(); }

void expect_complaint(const std::string& url, Errc code, const std::string& hint) {
  Client client(url, {.connect_timeout = 2s, .close_timeout = 100ms});
  const std::optional<Error> error = test::error_of([&] { Mutex(client, "name").lock(); });
  ASSERT_TRUE(error) << hint;
  EXPECT_EQ(error->errc(), code) << error->what();
  EXPECT_NE(std::string(error->what()).find(hint), std::string::npos) << error->what();
  EXPECT_EQ(std::string(error->what()).find("hunter2"), std::string::npos) << "a secret: " << error->what();
}

TEST(ZookeeperErrors, NobodyThereIsUnreachable) {
  expect_complaint("zookeeper://127.0.0.1:" + test::free_port(), Errc::unreachable, "zookeeper at 127.0.0.1");
  expect_complaint("zookeeper://127.0.0.1:" + test::free_port(), Errc::unreachable, "Connection refused");
  expect_complaint("zookeeper://no-such-host.invalid", Errc::unreachable, "host");
}

TEST(ZookeeperErrors, OneServerOfSeveralIsEnough) {
  Client client("zookeeper://127.0.0.1:" + test::free_port() + "," + place() + ",127.0.0.1:" + test::free_port() +
                "?prefix=" + new_prefix());
  EXPECT_TRUE(Mutex(client, "name").acquire().valid());
}

TEST(ZookeeperErrors, AnotherUsersNodesAreDenied) {
  const std::string prefix = new_prefix();
  Client owner("zookeeper://ann:hunter2@" + place() + "?prefix=" + prefix);
  const Hold hold = Mutex(owner, "name").acquire();
  expect_complaint("zookeeper://ann:hunter22@" + place() + "?prefix=" + prefix, Errc::access_denied, "another user");
  expect_complaint("zookeeper://" + place() + "?prefix=" + prefix, Errc::access_denied, "password into the URL");
  Client same("zookeeper://ann:hunter2@" + place() + "?prefix=" + prefix);
  EXPECT_FALSE(Mutex(same, "name").try_acquire());
  EXPECT_EQ(same.list().size(), 1U);
}

TEST(ZookeeperErrors, AHolderThatMayNotBeAskedDoesNotCountAsGone) {
  const std::string prefix = new_prefix();
  Client anybody("zookeeper://" + place() + "?prefix=" + prefix);
  const Hold opening = Mutex(anybody, "name").acquire();  // the line is everybody's
  Client owner("zookeeper://ann:hunter2@" + place() + "?prefix=" + prefix);
  test::Background waiter([&](std::stop_token stop) { return Mutex(owner, "name").acquire(stop); });
  ASSERT_TRUE(test::eventually([&] { return Hand(server().port()).children("/" + prefix + "/name").size() == 2; }));
  Hand(server().port()).remove("/" + prefix + "/name/" + Hand(server().port()).children("/" + prefix + "/name").at(0));
  const Hold hold = waiter.take();
  EXPECT_EQ(test::errc_of([&] { anybody.ask_to_release("name", {.reason = "please", .within = 1s}); }),
            Errc::access_denied);
}

TEST(ZookeeperErrors, AMissingChrootIsPointedOut) {
  const std::string chroot = "/" + new_prefix();
  expect_complaint("zookeeper://" + place() + chroot, Errc::store_failed, chroot);
  Hand(server().port()).create(chroot);
  Client client("zookeeper://" + place() + chroot);
  EXPECT_TRUE(Mutex(client, "name").acquire().valid());
  EXPECT_EQ(Hand(server().port()).children(chroot + "/holdfast/name").size(), 0U);
}

TEST(ZookeeperErrors, WhoeverSpeaksAnotherProtocolIsRefused) {
  const redis_suite::FakeServer web("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nServer: none at all\r\n\r\n");
  expect_complaint("zookeeper://" + web.address(), Errc::store_failed, "does not speak");
}

TEST(ZookeeperErrors, WhoeverAcceptsAndSaysNothingIsPointedOut) {
  const redis_suite::FakeServer silent("");
  expect_complaint("zookeeper://" + silent.address(), Errc::unreachable, "accepted a connection, but does not answer");
}

/// As a server does that cannot serve now, and whoever does not understand what we say.
TEST(ZookeeperErrors, WhoeverAcceptsAndHangsUpIsPointedOut) {
  const base::FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), generic, size), 0);
  ASSERT_EQ(::listen(listener.get(), 16), 0);
  ASSERT_EQ(::getsockname(listener.get(), generic, &size), 0);
  std::jthread hanging_up([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const base::FileDescriptor guest(::accept(listener.get(), nullptr, nullptr));
      std::array<char, 256> heard = {};
      static_cast<void>(::recv(guest.get(), heard.data(), heard.size(), 0));
    }
  });
  expect_complaint("zookeeper://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), Errc::unreachable,
                   "accepts connections and closes them");
  hanging_up.request_stop();
  ::shutdown(listener.get(), SHUT_RDWR);
}

TEST(ZookeeperErrors, ALeaseThatNoServerGrantsIsRefused) {
  Client client("zookeeper://" + place() + "?prefix=" + new_prefix());
  const std::optional<Error> error =
      test::error_of([&] { Mutex(client, "name", {.ttl = LockOptions::max_ttl}).lock(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->errc(), Errc::unsupported) << error->what();
}

TEST(ZookeeperErrors, BadUrlsSayWhatIsWrong) {
  for (const char* url : {"zookeeper:localhost", "zookeeper://", "zookeeper://a,,b", "zookeeper://a:0",
                          "zookeeper://a:70000", "zookeeper://user@a", "zookeeper://user:@a", "zookeeper://a/b//c",
                          "zookeeper://a/..", "zookeeper://a/zookeeper", "zookeeper://a?prefix=a/b",
                          "zookeeper://a?prefix=", "zookeeper://a?unknown=1", "zookeeper://[::1"}) {
    EXPECT_EQ(test::errc_of([&] { Client client(url); }), Errc::bad_url) << url;
  }
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
