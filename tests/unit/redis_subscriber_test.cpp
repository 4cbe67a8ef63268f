#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backends/redis/connection/subscriber.hpp"
#include "support/polling_loop.hpp"
#include "unit/redis_peer.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using base::Instant;

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
std::string confirmation_of(std::string_view channel) {
  return "*3\r\n" + bulk("subscribe") + bulk(channel) + ":1\r\n";
}
std::string message(std::string_view channel, std::string_view text) {
  return "*3\r\n" + bulk("message") + bulk(channel) + bulk(text);
}

struct Listener final : Channels::Listener {
  void listening(const std::string& channel) override { confirmed.push_back(channel); }
  void heard(const std::string& channel, std::string_view message) override {
    messages.push_back(channel + "=" + std::string(message));
  }

  std::vector<std::string> confirmed;
  std::vector<std::string> messages;
};

class RedisSubscriber : public testing::Test {
 protected:
  bool connects() {
    return loop_.poll_until([&] { return peer_.accepts(); });
  }
  bool peer_hears(std::string_view bytes) {
    return loop_.poll_until([&] { return peer_.heard(bytes); });
  }
  /// With one listener to one channel.
  void listen_to(const std::string& channel) {
    subscriber_.subscribe(channel, listener_);
    ASSERT_TRUE(connects());
    ASSERT_TRUE(peer_hears("SUBSCRIBE\r\n" + bulk(channel)));
    peer_.says(confirmation_of(channel));
    ASSERT_TRUE(loop_.poll_until([&] { return !listener_.confirmed.empty(); }));
  }

  test::RedisPeer peer_;
  const ServerAddress address_ = {.host = "127.0.0.1", .port = peer_.port()};
  test::PollingLoop loop_;
  TlsSetup tls_setup_{loop_, address_};
  Listener listener_;
  Subscriber subscriber_{loop_, address_, tls_setup_};
};

TEST_F(RedisSubscriber, HasNoConnectionWhileNobodyListens) {
  loop_.advance(1s);
  loop_.poll(20ms);
  EXPECT_FALSE(peer_.accepts());
}

TEST_F(RedisSubscriber, ListensOnceTheServerHasConfirmedIt) {
  subscriber_.subscribe("a", listener_);
  ASSERT_TRUE(connects());
  ASSERT_TRUE(peer_hears("SUBSCRIBE\r\n"));
  EXPECT_EQ(subscriber_.listening_since("a"), Instant::max());
  peer_.says(confirmation_of("a"));
  ASSERT_TRUE(loop_.poll_until([&] { return !listener_.confirmed.empty(); }));
  EXPECT_EQ(subscriber_.listening_since("a"), loop_.now());
  EXPECT_EQ(listener_.confirmed, std::vector<std::string>{"a"});
}

TEST_F(RedisSubscriber, TellsEachListenerItsChannel) {
  listen_to("a");
  Listener other;
  subscriber_.subscribe("b", other);
  ASSERT_TRUE(peer_hears("SUBSCRIBE\r\n" + bulk("b")));
  peer_.says(confirmation_of("b") + message("a", "1") + message("b", "2") + message("c", "nobody's"));
  ASSERT_TRUE(loop_.poll_until([&] { return !other.messages.empty(); }));
  EXPECT_EQ(listener_.messages, std::vector<std::string>{"a=1"});
  EXPECT_EQ(other.messages, std::vector<std::string>{"b=2"});
}

TEST_F(RedisSubscriber, KeepsTheConnectionForThoseThatStay) {
  listen_to("a");
  subscriber_.subscribe("b", listener_);
  subscriber_.unsubscribe("a");
  EXPECT_EQ(subscriber_.listening_since("a"), Instant::max());
  EXPECT_TRUE(peer_hears("UNSUBSCRIBE\r\n" + bulk("a")));
  EXPECT_FALSE(peer_.is_alone());
  subscriber_.unsubscribe("b");
  EXPECT_TRUE(loop_.poll_until([&] { return peer_.is_alone(); })) << "nobody listens any more";
}

TEST_F(RedisSubscriber, ListensAgainAfterTheConnectionBroke) {
  listen_to("a");
  peer_.hangs_up();
  ASSERT_TRUE(loop_.poll_until([&] { return subscriber_.listening_since("a") == Instant::max(); }));
  loop_.advance(1s);
  ASSERT_TRUE(connects());
  ASSERT_TRUE(peer_hears("SUBSCRIBE\r\n" + bulk("a")));
  peer_.says(confirmation_of("a"));
  ASSERT_TRUE(loop_.poll_until([&] { return listener_.confirmed.size() == 2; })) << "it hears that it missed something";
}

TEST_F(RedisSubscriber, IsNotIrritatedByWhatItDoesNotKnow) {
  listen_to("a");
  peer_.says("+OK\r\n:7\r\n*1\r\n:1\r\n*4\r\n" + bulk("pmessage") + bulk("*") + bulk("a") + bulk("x") +
             confirmation_of("never wanted") + message("a", "1"));
  ASSERT_TRUE(loop_.poll_until([&] { return !listener_.messages.empty(); }));
  EXPECT_EQ(listener_.confirmed.size(), 1U);
}

TEST_F(RedisSubscriber, LeavesAServerThatRefuses) {
  listen_to("a");
  peer_.says("-NOPERM this user has no permissions to access one of the channels\r\n");
  ASSERT_TRUE(loop_.poll_until([&] { return peer_.is_alone(); }));
  loop_.advance(2s);
  EXPECT_TRUE(connects()) << "it may be allowed by then";
}

TEST_F(RedisSubscriber, IsSilentOnceItIsClosed) {
  listen_to("a");
  subscriber_.close();
  EXPECT_TRUE(loop_.poll_until([&] { return peer_.is_alone(); }));
  subscriber_.subscribe("b", listener_);
  loop_.advance(2s);
  loop_.poll(20ms);
  EXPECT_FALSE(peer_.accepts());
}

}  // namespace
}  // namespace holdfast::redis
