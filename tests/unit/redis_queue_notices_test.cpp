#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/queue_notices.hpp"
#include "support/manual_loop.hpp"
#include "unit/redis_fake_topology.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using base::Instant;
using spi::ClaimAnswer;

struct Events final : spi::ClaimEvents {
  void granted(const LockName&, LockKind, spi::ClaimId, const ClaimAnswer& answer) override {
    grants.push_back(answer);
  }
  void check(const LockName&, LockKind, spi::ClaimId) override { ++checks; }

  std::vector<ClaimAnswer> grants;
  int checks = 0;
};

class RedisQueueNotices : public testing::Test {
 protected:
  static ClaimAnswer waiting() { return {.standing = ClaimAnswer::Standing::waiting, .number = 7, .lease = 30s}; }
  static ClaimAnswer granted() { return {.standing = ClaimAnswer::Standing::granted, .number = 7, .lease = 30s}; }
  static ClaimAnswer absent() { return {}; }

  spi::ClaimRef claim(std::uint64_t id) const {
    return {.name = name_, .kind = LockKind::lock, .id = {.high = id, .low = 7}};
  }
  void note(const ClaimAnswer& answer) { notices_.note(claim(1), answer, loop_.now()); }
  bool listens() const { return channels_.has(channel_); }
  void confirm() {
    channels_.confirm(channel_, loop_.now());
    loop_.run();
  }
  /// As tell() of the scripts writes it.
  std::string message(char kind, const std::string& number_and_lease) const {
    return kind + std::string(IdBytes(claim(1).id)) + number_and_lease + keys_.line(name_.text(), LockKind::lock).line;
  }

  const LockName name_{"name"};
  const Keys keys_{"holdfast"};
  const std::string channel_ = keys_.channel_of("me");
  test::ManualLoop loop_;
  test::FakeChannels channels_;
  Events events_;
  int catch_ups_ = 0;
  QueueNotices notices_{loop_, channels_, keys_, "me", events_, [this] { ++catch_ups_; }};
};

TEST_F(RedisQueueNotices, ListenWhileAClaimWaitsAndALittleLonger) {
  EXPECT_FALSE(listens());
  note(waiting());
  EXPECT_TRUE(listens());
  loop_.advance(20s);
  EXPECT_TRUE(listens());
  note(absent());
  loop_.advance(4s);
  EXPECT_TRUE(listens()) << "who waited once often waits again";
  loop_.advance(7s);
  EXPECT_FALSE(listens());
}

TEST_F(RedisQueueNotices, DoNotListenForWhatIsHeldForAMoment) {
  for (int round = 0; round < 10; ++round) {
    note(granted());
    loop_.advance(50ms);
    note(absent());
    loop_.advance(50ms);
  }
  EXPECT_FALSE(listens());
}

TEST_F(RedisQueueNotices, ListenForWhatIsHeldForLong) {
  note(granted());
  loop_.advance(200ms);
  EXPECT_FALSE(listens());
  loop_.advance(400ms);
  EXPECT_TRUE(listens()) << "somebody may ask for it, or evict it";
}

TEST_F(RedisQueueNotices, ForgetClaimsThatTheStoreHasForgotten) {
  note(granted());
  loop_.advance(59s);
  EXPECT_FALSE(notices_.claims().empty());
  loop_.advance(20s);
  EXPECT_TRUE(notices_.claims().empty());
  EXPECT_FALSE(listens());
}

TEST_F(RedisQueueNotices, CatchUpOnceTheyListen) {
  note(waiting());
  EXPECT_EQ(catch_ups_, 0);
  confirm();
  EXPECT_EQ(catch_ups_, 1);
  confirm();
  EXPECT_EQ(catch_ups_, 2) << "it was interrupted";
}

TEST_F(RedisQueueNotices, CatchUpIfAClaimWasAskedForBeforeTheyListened) {
  note(waiting());
  const Instant before = loop_.now();
  loop_.advance(10ms);
  confirm();
  notices_.note(claim(3), waiting(), before);
  loop_.run();
  EXPECT_EQ(catch_ups_, 2) << "it may have been told something in between";
  notices_.note(claim(5), waiting(), loop_.now());
  loop_.run();
  EXPECT_EQ(catch_ups_, 2);
}

TEST_F(RedisQueueNotices, TellOfAGrantOnce) {
  note(waiting());
  confirm();
  channels_.say(channel_, message('g', "8 12000 "));
  channels_.say(channel_, message('g', "8 12000 "));
  ASSERT_EQ(events_.grants.size(), 1U);
  EXPECT_EQ(events_.grants[0].number, 8U);
  EXPECT_EQ(events_.grants[0].lease, 12s);
  EXPECT_EQ(events_.grants[0].armed_at, Instant::min()) << "nothing new was proved";
}

TEST_F(RedisQueueNotices, TellThatItIsWorthAsking) {
  note(granted());
  loop_.advance(1s);
  channels_.say(channel_, message('c', "0 0 "));
  EXPECT_EQ(events_.checks, 1);
  EXPECT_TRUE(events_.grants.empty());
}

TEST_F(RedisQueueNotices, DoNotBelieveWhatMakesNoSense) {
  note(waiting());
  for (const char* nonsense : {"", "g", "gtooshort", "g0123456789abcdef", "g0123456789abcdefx 1 holdfast:{00}:l:name",
                               "g0123456789abcdef8", "g0123456789abcdef8 x"}) {
    channels_.say(channel_, nonsense);
  }
  EXPECT_TRUE(events_.grants.empty());
  EXPECT_EQ(events_.checks, 0);
}

}  // namespace
}  // namespace holdfast::redis
