#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backends/redis/connection/connection.hpp"
#include "support/polling_loop.hpp"
#include "unit/redis_peer.hpp"

namespace holdfast::redis {
namespace {

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
  const test::RedisPeer silent_server_;
  const ServerAddress address_ = {.host = "127.0.0.1", .port = silent_server_.port()};
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
