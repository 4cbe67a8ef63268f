#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/layouts/queue_claims.hpp"
#include "support/manual_loop.hpp"
#include "unit/redis_fake_topology.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using spi::ClaimAnswer;
using spi::ClaimId;
using spi::ClaimRef;

struct NoEvents final : spi::ClaimEvents {
  void granted(const LockName&, LockKind, ClaimId, const ClaimAnswer&) override {}
  void check(const LockName&, LockKind, ClaimId) override {}
};

class RedisQueueClaims : public testing::Test {
 protected:
  static Reply number(long long value) { return {.kind = Reply::Kind::integer, .integer = value}; }
  static ClaimRef claim(const LockName& name, LockKind kind) {
    return {.name = name, .kind = kind, .id = {1, 2}, .lease = 30s};
  }
  static Reply granted(long long token) {
    return {.kind = Reply::Kind::array, .elements = {number(1), number(token), number(30000)}};
  }

  const LockName first_{"first"};
  const LockName second_{"second"};
  const Keys keys_{"holdfast"};
  test::ManualLoop loop_;
  NoEvents events_;
  test::FakeTopology topology_;
  QueueNotices notices_{loop_, topology_.channels(), keys_, "me", events_, [] {}};
  QueueClaims claims_{{.loop = loop_, .events = events_}, topology_, keys_, notices_, std::string(32, 'c')};
};

TEST_F(RedisQueueClaims, SayWhichKeyARequestIsAbout) {
  claims_.acquire({.name = first_, .id = {1, 2}, .lease = 30s}, [](const spi::Result<ClaimAnswer>&) {});
  EXPECT_EQ(topology_.next().key, keys_.line("first", LockKind::lock).line);
  const spi::Mode permits = {.kind = ClaimMode::permits, .permits = 1, .limit = 2};
  claims_.acquire({.name = first_, .id = {3, 4}, .mode = permits, .lease = 30s},
                  [](const spi::Result<ClaimAnswer>&) {});
  EXPECT_EQ(topology_.next().key, keys_.line("first", LockKind::semaphore).line);
}

/// A cluster refuses a request with keys of several slots.
TEST_F(RedisQueueClaims, RenewTheClaimsOfEachPartInOneRequest) {
  std::optional<std::vector<ClaimAnswer>> answers;
  const std::vector<ClaimRef> refs = {claim(first_, LockKind::lock), claim(second_, LockKind::lock),
                                      claim(first_, LockKind::semaphore)};
  claims_.renew(refs, [&](spi::Result<std::vector<ClaimAnswer>> result) { answers = std::move(result.value()); });
  ASSERT_EQ(topology_.requests.size(), 2U);
  while (!topology_.requests.empty()) {
    auto sent = topology_.next();
    const bool about_first = sent.key == keys_.line("first", LockKind::lock).line;
    EXPECT_EQ(sent.command.find(keys_.line("first", LockKind::lock).line) != std::string::npos, about_first);
    EXPECT_EQ(sent.command.find(keys_.line("second", LockKind::lock).line) != std::string::npos, !about_first);
    Reply reply = {.kind = Reply::Kind::array};
    if (about_first) {
      reply.elements = {granted(11), granted(13)};
    } else {
      reply.elements = {granted(12)};
    }
    sent.on_reply(&reply);
  }
  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ((*answers)[i].number, 11 + i);
}

TEST_F(RedisQueueClaims, AskOneLineWhereverAClaimIsNotKnown) {
  claims_.release(claim(first_, LockKind::semaphore), [](const spi::Result<bool>&) {});
  ASSERT_EQ(topology_.requests.size(), 1U);
  EXPECT_EQ(topology_.next().key, keys_.line("first", LockKind::semaphore).line);
}

TEST_F(RedisQueueClaims, AskHowPermitsStandBeforeTheyRefuseToDowngradeThem) {
  std::optional<spi::Result<ClaimAnswer>> there;
  std::optional<spi::Result<ClaimAnswer>> gone;
  claims_.downgrade(claim(first_, LockKind::semaphore), [&](spi::Result<ClaimAnswer> result) { there = result; });
  claims_.downgrade(claim(first_, LockKind::semaphore), [&](spi::Result<ClaimAnswer> result) { gone = result; });
  Reply reply = {.kind = Reply::Kind::array, .elements = {granted(11)}};
  topology_.next().on_reply(&reply);
  ASSERT_TRUE(there && !there->ok());
  EXPECT_EQ(there->failure().code, Errc::invalid_argument);
  reply.elements = {{.kind = Reply::Kind::array, .elements = {number(0)}}};
  topology_.next().on_reply(&reply);
  ASSERT_TRUE(gone && gone->ok());
  EXPECT_EQ(gone->value().standing, ClaimAnswer::Standing::absent);
}

}  // namespace
}  // namespace holdfast::redis
