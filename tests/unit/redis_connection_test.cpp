#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <string>

#include "backends/redis/connection/connection.hpp"
#include "support/polling_loop.hpp"

namespace holdfast::redis {
namespace {

/// A server that accepts one connection and reads nothing.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &length), 0);
    port = std::to_string(ntohs(address.sin_port));
  }

  std::string port;

 private:
  base::FileDescriptor listener_;
};

struct Owner final : Connection::Owner {
  void connection_up() override { ++ups; }
  void connection_down(const spi::Failure& why, bool was_up) override {
    failure = why;
    broke = was_up;
  }
  void connection_received(Reply&) override {}

  int ups = 0;
  bool broke = false;
  std::optional<spi::Failure> failure;
};

class RedisConnection : public testing::Test {
 protected:
  const SilentServer server_;
  const ServerAddress address_ = {.host = "127.0.0.1", .port = server_.port};
  test::PollingLoop loop_;
  TlsSetup tls_setup_{loop_, address_};
  Owner owner_;
  Connection connection_{loop_, address_, tls_setup_, owner_};
};

/// More than the server's and the client's buffers hold, so that the link must wait until it can go on.
TEST_F(RedisConnection, BreaksIfItCannotWaitUntilItMaySendMore) {
  connection_.want();
  ASSERT_TRUE(loop_.poll_until([&] { return connection_.is_up(); }));
  connection_.out().append(std::size_t{64} << 20U, 'x');
  loop_.refuses_to_watch = true;
  loop_.poll();
  ASSERT_TRUE(owner_.failure);
  EXPECT_EQ(owner_.failure->code, Errc::exhausted);
  EXPECT_TRUE(owner_.broke);
  EXPECT_TRUE(connection_.is_resting());
  loop_.refuses_to_watch = false;
  connection_.want();
  loop_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(loop_.poll_until([&] { return owner_.ups == 2; })) << "and comes up again";
}

TEST_F(RedisConnection, FailsIfItsSocketCannotBeWatched) {
  connection_.want();
  loop_.refuses_to_watch = true;
  loop_.poll();
  ASSERT_TRUE(owner_.failure);
  EXPECT_EQ(owner_.failure->code, Errc::exhausted);
  EXPECT_FALSE(owner_.broke);
}

/// The dialer could watch it while it was connecting; the link cannot any more.
TEST_F(RedisConnection, FailsIfItsConnectedSocketCannotBeWatched) {
  connection_.want();
  loop_.run();
  ASSERT_EQ(loop_.watched(), 1U);
  loop_.refuses_to_watch = true;
  ASSERT_TRUE(loop_.poll_until([&] { return owner_.failure.has_value(); }));
  EXPECT_EQ(owner_.failure->code, Errc::exhausted);
  EXPECT_EQ(owner_.ups, 0);
}

}  // namespace
}  // namespace holdfast::redis
