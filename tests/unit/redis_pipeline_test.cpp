#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/redis/connection/pipeline.hpp"
#include "support/polling_loop.hpp"
#include "unit/redis_peer.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using Order = Request::Order;

const Script script({"return 1"});
constexpr std::string_view by_text = "EVAL\r\n";
constexpr std::string_view by_digest = "EVALSHA\r\n";
/// After it the connection is tried again, and no request has been given up yet.
constexpr base::Duration a_pause = 300ms;
constexpr std::string_view forgotten = "-NOSCRIPT No matching script.\r\n";

class RedisPipeline : public testing::Test {
 protected:
  /// What became of one request: the text of its reply, or of its failure.
  struct Sent {
    std::optional<std::string> reply;
    std::optional<Errc> failure;
  };

  void connect() {
    ASSERT_TRUE(loop_.poll_until([&] { return peer_.accepts(); }));
  }
  void send(Sent& sent, std::string_view key, Order order, const Script* with = nullptr) {
    Command command;
    if (with == nullptr) command.add("GET");
    command.add("1").add(key);
    pipeline_.send({.command = std::move(command),
                    .script = with,
                    .key = key,
                    .order = order,
                    .on_reply = [&sent](spi::Result<Reply*> result) {
                      if (result.ok()) {
                        sent.reply = result.value()->text;
                      } else {
                        sent.failure = result.failure().code;
                      }
                    }});
  }
  bool peer_hears(std::string_view bytes) {
    return loop_.poll_until([&] { return peer_.heard(bytes); });
  }
  bool is_told(const Sent& sent) {
    return loop_.poll_until([&] { return sent.reply || sent.failure; });
  }

  test::RedisPeer peer_;
  const ServerAddress address_ = {.host = "127.0.0.1", .port = peer_.port()};
  test::PollingLoop loop_;
  TlsSetup tls_setup_{loop_, address_};
  Pipeline pipeline_{loop_, address_, tls_setup_};
};

TEST_F(RedisPipeline, AnswersInTheOrderOfTheRequests) {
  Sent first;
  Sent second;
  send(first, "a", Order::any);
  send(second, "b", Order::any);
  connect();
  EXPECT_TRUE(peer_hears("a\r\n") && peer_hears("b\r\n")) << "sent at once";
  peer_.says("$1\r\n1\r\n$1\r\n2\r\n");
  ASSERT_TRUE(is_told(second));
  EXPECT_EQ(first.reply, "1");
  EXPECT_EQ(second.reply, "2");
}

TEST_F(RedisPipeline, SendsAScriptsTextOnceForEachConnection) {
  Sent sent;
  send(sent, "a", Order::any, &script);
  connect();
  EXPECT_TRUE(peer_hears(by_text));
  send(sent, "a", Order::any, &script);
  EXPECT_TRUE(peer_hears(by_digest));
  peer_.hangs_up();
  ASSERT_TRUE(is_told(sent));
  EXPECT_EQ(sent.failure, Errc::in_doubt) << "it may have been executed";
  send(sent, "a", Order::any, &script);
  loop_.advance(a_pause);
  connect();
  EXPECT_TRUE(peer_hears(by_text)) << "this may be another server";
}

TEST_F(RedisPipeline, SendsTheTextAgainToAServerThatHasForgottenIt) {
  Sent first;
  send(first, "a", Order::kept, &script);
  connect();
  peer_.says("$1\r\n1\r\n");
  ASSERT_TRUE(is_told(first));
  Sent second;
  Sent elsewhere;
  ASSERT_TRUE(peer_hears(by_text));
  send(second, "a", Order::kept, &script);
  send(elsewhere, "b", Order::kept);
  ASSERT_TRUE(peer_hears(by_digest));
  peer_.says(std::string(forgotten) + "$1\r\n3\r\n");
  EXPECT_TRUE(peer_hears(by_text)) << "what was sent about another key does not matter";
  peer_.says("$1\r\n2\r\n");
  ASSERT_TRUE(is_told(second));
  EXPECT_EQ(second.reply, "2");
  EXPECT_EQ(elsewhere.reply, "3");
}

TEST_F(RedisPipeline, DoesNotSendAgainWhatWouldComeAfterALaterRequestAboutTheSameKey) {
  Sent first;
  Sent later;
  send(first, "a", Order::kept, &script);
  send(later, "a", Order::kept);
  connect();
  ASSERT_TRUE(peer_hears(by_text));
  peer_.says(std::string(forgotten) + "$1\r\n2\r\n");
  ASSERT_TRUE(is_told(later));
  ASSERT_TRUE(is_told(first));
  EXPECT_EQ(first.failure, Errc::unreachable) << "as if it had never been sent";
  EXPECT_EQ(later.reply, "2");
}

TEST_F(RedisPipeline, GivesUpARequestAndThrowsItsLateReplyAway) {
  Sent first;
  send(first, "a", Order::any);
  connect();
  ASSERT_TRUE(peer_hears("a\r\n"));
  loop_.advance(spi::longest_patience);
  ASSERT_TRUE(is_told(first));
  EXPECT_EQ(first.failure, Errc::in_doubt);
  Sent second;
  send(second, "b", Order::any);
  ASSERT_TRUE(peer_hears("holdfast-1\r\n")) << "it asks whether the replies are in order";
  ASSERT_TRUE(peer_hears("b\r\n"));
  peer_.says("$1\r\n1\r\n$10\r\nholdfast-1\r\n$1\r\n2\r\n");
  ASSERT_TRUE(is_told(second));
  EXPECT_EQ(first.reply, std::nullopt);
  EXPECT_EQ(second.reply, "2");
}

TEST_F(RedisPipeline, LeavesAServerWhoseRepliesAreOutOfOrder) {
  Sent first;
  send(first, "a", Order::any);
  connect();
  loop_.advance(spi::longest_patience);
  ASSERT_TRUE(peer_hears("holdfast-1\r\n"));
  Sent second;
  send(second, "b", Order::any);
  peer_.says("$10\r\nholdfast-1\r\n$1\r\n2\r\n$1\r\n3\r\n");  // the reply to the first is missing
  ASSERT_TRUE(is_told(second));
  EXPECT_EQ(second.failure, Errc::in_doubt);
  EXPECT_TRUE(loop_.poll_until([&] { return peer_.is_alone(); }));
}

TEST_F(RedisPipeline, SaysThatNothingHappenedIfTheConnectionDoesNotComeUp) {
  const ServerAddress nobody = {.transport = ServerAddress::Transport::unix_socket, .path = "/nobody/is/here.sock"};
  TlsSetup tls_setup(loop_, nobody);
  Pipeline pipeline(loop_, nobody, tls_setup);
  std::optional<Errc> failure;
  pipeline.send({.command = Command().add("PING"),
                 .on_reply = [&](spi::Result<Reply*> result) { failure = result.failure().code; }});
  ASSERT_TRUE(loop_.poll_until([&] { return failure.has_value(); }));
  EXPECT_EQ(failure, Errc::unreachable);
}

TEST_F(RedisPipeline, TellsThatAnotherServerMayStandWhereAReplicaWas) {
  int changes = 0;
  pipeline_.when_server_changed([&] { ++changes; });
  Sent sent;
  send(sent, "a", Order::any);
  connect();
  ASSERT_TRUE(peer_hears("a\r\n"));
  peer_.says("-READONLY You can't write against a read only replica.\r\n");
  ASSERT_TRUE(is_told(sent));
  EXPECT_EQ(sent.failure, Errc::unreachable);
  EXPECT_EQ(changes, 0) << "not yet";
  send(sent, "a", Order::any);
  loop_.advance(a_pause);
  connect();
  ASSERT_TRUE(peer_hears("a\r\n"));
  EXPECT_EQ(changes, 1);
  peer_.hangs_up();
  loop_.poll(10ms);
  send(sent, "a", Order::any);
  loop_.advance(a_pause);
  connect();
  ASSERT_TRUE(peer_hears("a\r\n"));
  EXPECT_EQ(changes, 1) << "a connection that broke says nothing about the server";
}

TEST_F(RedisPipeline, AnswersEverythingWhenItIsClosed) {
  Sent waiting;
  Sent late;
  send(waiting, "a", Order::any);
  pipeline_.close();
  send(late, "a", Order::any);
  EXPECT_FALSE(waiting.failure || late.failure) << "not inside the call";
  loop_.run();
  EXPECT_EQ(waiting.failure, Errc::closed);
  EXPECT_EQ(late.failure, Errc::closed);
}

}  // namespace
}  // namespace holdfast::redis
