// A Redis server that accepts connections and says nothing: no call hangs, and holders know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/line.hpp"
#include "faults/redis_store.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::StartsWith;

enum class Silence { proxy, stopped_server };

class RedisSilence : public testing::TestWithParam<Silence> {
 protected:
  static constexpr auto lease = 3s;
  static constexpr auto patience = lease / 6;

  ~RedisSilence() override { speak(); }

  void fall_silent() {
    if (GetParam() == Silence::proxy) {
      store_.proxy().be_silent(true);
    } else {
      store_.server().pause();
    }
  }
  void speak() {
    store_.proxy().be_silent(false);
    store_.server().resume();
  }
  /// How the call ends, if it does in time.
  static std::string answer_to(ProcessPeer& peer, const std::string& command, std::chrono::milliseconds bound) {
    peer.send(command);
    return peer.receive(bound + slack).value_or("no answer");
  }

  RedisStore store_;
};

TEST_P(RedisSilence, EndsEveryCallOfANewcomer) {
  fall_silent();
  ProcessPeer newcomer(store_.url());
  EXPECT_THAT(answer_to(newcomer, "acquire a 3000 1000", 1s), StartsWith("error"));
  EXPECT_THAT(answer_to(newcomer, "acquire a 3000 60000", 5s), StartsWith("error")) << "connect_timeout";
  speak();
  EXPECT_THAT(answer_to(newcomer, "acquire a 3000 10000", 10s), StartsWith("granted"));
}

TEST_P(RedisSilence, EndsEveryCallAndEveryHold) {
  ProcessPeer holder(store_.url());
  ProcessPeer other(store_.url());
  ASSERT_THAT(holder.ask("acquire a 3000 0"), StartsWith("granted"));
  ASSERT_THAT(other.ask("acquire b 3000 0"), StartsWith("granted"));
  fall_silent();
  holder.send("await_loss a");
  EXPECT_THAT(answer_to(other, "acquire c 3000 0", 2 * patience), StartsWith("error"));
  EXPECT_THAT(answer_to(other, "acquire c 3000 1000", 1s + 2 * patience), StartsWith("error"));
  EXPECT_EQ(holder.receive(lease + slack).value_or("not told"), "lost");
  EXPECT_EQ(holder.ask("valid a"), "no");
  EXPECT_EQ(answer_to(holder, "release a", 2 * patience), "not_held");
  EXPECT_THAT(answer_to(other, "release b", 2 * patience), testing::AnyOf("not_held", "in_doubt"));
  speak();
  EXPECT_THAT(answer_to(holder, "acquire b 3000 10000", 10s), StartsWith("granted"));
  EXPECT_THAT(answer_to(other, "acquire a 3000 10000", 10s), StartsWith("granted"));
}

/// The other host has gone, and took the connections with it without a word; another one has its address.
TEST(RedisSilentConnections, AreReplacedBeforeALongLeaseEnds) {
  RedisStore store;
  const Client client(store.url());
  ProcessPeer holder(store.url());
  ASSERT_THAT(holder.ask("acquire a 12000 0"), StartsWith("granted"));
  const Line line = line_of(store.url(), client, 1, "12000 40000");
  ASSERT_EQ(line.size(), 1U);
  ASSERT_GE(store.proxy().forsake(), 3U);
  EXPECT_EQ(line[0]->receive(13s).value_or("waits"), "waits");
  EXPECT_EQ(holder.ask("valid a"), "yes") << "it has been renewed";
  EXPECT_EQ(holder.ask("release a"), "released");
  EXPECT_TRUE(is_granted_within(*line[0], 4s + slack)) << "at its next look, even if it cannot hear";
}

INSTANTIATE_TEST_SUITE_P(By, RedisSilence, testing::Values(Silence::proxy, Silence::stopped_server),
                         [](const auto& it) { return it.param == Silence::proxy ? "proxy" : "stopped_server"; });

}  // namespace
}  // namespace holdfast::faults
