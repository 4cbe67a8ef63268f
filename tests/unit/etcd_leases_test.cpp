#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <vector>

#include "backends/etcd/leases.hpp"
#include "backends/etcd/server_calls.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using test::FakeWire;
using Kind = FakeWire::Kind;
using Got = test::AnswerOf<LeasePtr>;

class EtcdLeases : public testing::Test {
 protected:
  EtcdLeases() {
    FakeWire::reset();
    calls_.wire();
    loop_.run();
  }

  static FakeWire& wire() { return *FakeWire::latest; }
  Got get(spi::milliseconds length, LeaseKind kind = LeaseKind::renewed) {
    Got answer;
    leases_.get(length, kind, loop_.now() + 1s).start(answer.done());
    loop_.run();
    return answer;
  }
  /// The server grants what was asked for.
  void grant(std::int64_t id, std::uint64_t term = 1) {
    ASSERT_FALSE(wire().calls.empty());
    ASSERT_EQ(wire().first().kind, Kind::grant_lease);
    wire().answer_first(LeaseReply{.id = id, .seconds = wire().first().lease, .term = term});
    loop_.run();
  }
  LeasePtr granted(std::int64_t id, spi::milliseconds length, LeaseKind kind = LeaseKind::renewed) {
    const Got answer = get(length, kind);
    grant(id);
    return answer.value();
  }
  void keep_alive_answer(std::int64_t id, std::int64_t seconds) {
    wire().keep_alive_answer(id, seconds);
    loop_.run();
  }
  /// Another leader is heard of.
  void elect(std::uint64_t term) {
    calls_.transact({.then = {Range{.key = "key"}}}, loop_.now() + 1s, [](const spi::Result<TransactionReply>&) {});
    loop_.run();
    wire().answer_first(std::vector<Outcome>(1), 1, term);
    loop_.run();
  }

  test::ManualLoop loop_;
  Address address_ = {.servers = {"a:1"}};
  ServerCalls calls_{loop_, address_, &FakeWire::prepare};
  Leases leases_{loop_, calls_};
};

TEST_F(EtcdLeases, AreWholeSecondsArmedWhenTheyWereAskedFor) {
  const base::Instant asked = loop_.now();
  const Got answer = get(1500ms);
  EXPECT_EQ(wire().first().lease, 2);
  loop_.pause(30ms);
  grant(7);
  ASSERT_TRUE(answer.is_good());
  EXPECT_EQ(answer.value()->id, 7);
  EXPECT_EQ(answer.value()->length, 2s);
  EXPECT_EQ(answer.value()->armed, asked);
}

TEST_F(EtcdLeases, AreSharedByClaimsOfOneLength) {
  const LeasePtr lease = granted(7, 12s);
  loop_.pause(2s);
  EXPECT_EQ(get(12s).value(), lease);
  EXPECT_EQ(get(11500ms).value(), lease);
  EXPECT_TRUE(wire().calls.empty());
  EXPECT_EQ(granted(8, 13s)->id, 8);
}

TEST_F(EtcdLeases, AreAskedForOnceHoweverManyWaitForOne) {
  const Got first = get(12s);
  const Got second = get(12s);
  ASSERT_EQ(wire().calls.size(), 1U);
  grant(7);
  EXPECT_EQ(first.value(), second.value());
}

TEST_F(EtcdLeases, AreArmedAgainBeforeAnotherClaimComesUnderThem) {
  const LeasePtr lease = granted(7, 12s);
  const base::Instant before = lease->armed;
  loop_.pause(2001ms);
  const Got answer = get(12s);
  EXPECT_FALSE(answer.has_come());
  keep_alive_answer(7, 12);
  EXPECT_EQ(answer.value(), lease);
  EXPECT_EQ(lease->armed, before + 2001ms);
}

TEST_F(EtcdLeases, ThatAreLostAreFollowedByOthers) {
  const LeasePtr lost = granted(7, 12s);
  loop_.pause(3s);
  const Got answer = get(12s);
  keep_alive_answer(7, 0);
  EXPECT_TRUE(lost->gone);
  EXPECT_EQ(leases_.find(7), nullptr);
  grant(8);
  EXPECT_EQ(answer.value()->id, 8);
  leases_.is_gone(8);
  EXPECT_EQ(granted(9, 12s)->id, 9) << "also if a transaction has found it gone";
}

TEST_F(EtcdLeases, OfAnotherLeaderComeUnderNoNewClaim) {
  const LeasePtr old = granted(7, 12s);
  leases_.is_used(7);
  EXPECT_FALSE(leases_.is_outlived(*old));
  elect(2);
  EXPECT_TRUE(leases_.is_outlived(*old));
  const Got answer = get(12s);
  ASSERT_EQ(wire().calls.size(), 1U) << "its claim has yet to be moved, so it is not revoked";
  grant(8, 2);
  EXPECT_FALSE(leases_.is_outlived(*answer.value()));
  leases_.is_unused(7);
  ASSERT_EQ(wire().calls.size(), 1U);
  EXPECT_EQ(wire().first().kind, Kind::revoke_lease);
  EXPECT_EQ(wire().first().lease, 7);
}

TEST_F(EtcdLeases, ThatWereArmedByAnotherLeaderAreNotUsedEither) {
  granted(7, 12s);
  loop_.pause(3s);
  const Got answer = get(12s);
  elect(2);
  keep_alive_answer(7, 12);
  EXPECT_FALSE(answer.has_come());
  wire().calls.erase(wire().calls.begin());  // the old one is revoked
  grant(8, 2);
  EXPECT_EQ(answer.value()->id, 8);
}

TEST_F(EtcdLeases, MayHaveBeenGrantedByTheLeaderBeforeTheOneThatAnswers) {
  elect(1);
  const Got answer = get(12s);
  grant(7, 2);
  EXPECT_EQ(answer.value()->term, 1U);
}

TEST_F(EtcdLeases, ThatAreFixedBelongToOneClaimAndEndWithIt) {
  const LeasePtr first = granted(7, 12s, LeaseKind::fixed);
  const LeasePtr second = granted(8, 12s, LeaseKind::fixed);
  EXPECT_NE(first, second);
  leases_.is_used(7);
  leases_.is_unused(7);
  ASSERT_EQ(wire().calls.size(), 1U);
  EXPECT_EQ(wire().first().kind, Kind::revoke_lease);
  EXPECT_EQ(wire().first().lease, 7);
}

TEST_F(EtcdLeases, ThatAreSharedOutliveTheirClaims) {
  granted(7, 12s);
  leases_.is_used(7);
  leases_.is_unused(7);
  EXPECT_TRUE(wire().calls.empty());
  leases_.retire(7);
  ASSERT_EQ(wire().calls.size(), 1U) << "unless nobody may come under it any more";
  EXPECT_EQ(wire().first().kind, Kind::revoke_lease);
}

TEST_F(EtcdLeases, ThatAreTooShortAreRefused) {
  const Got answer = get(12s);
  wire().answer_first(LeaseReply{.id = 7, .seconds = 11});
  loop_.run();
  EXPECT_EQ(answer.failure(), Errc::store_failed);
}

TEST_F(EtcdLeases, ThatCannotBeHadFailForAllWhoWait) {
  const Got first = get(12s);
  const Got second = get(12s);
  wire().fail_first(test::timed_out());
  loop_.run();
  EXPECT_EQ(first.failure(), Errc::unreachable) << "one that nobody knows of ends by itself";
  EXPECT_EQ(second.failure(), Errc::unreachable);
  EXPECT_EQ(granted(8, 12s)->id, 8);
}

TEST_F(EtcdLeases, AreKeptAliveTogether) {
  granted(7, 12s);
  granted(8, 20s);
  test::AnswerOf<std::map<std::int64_t, LeasePtr>> kept;
  leases_.keep_all_alive({7, 8, 9}, loop_.now() + 1s, kept.done());
  loop_.run();
  keep_alive_answer(7, 12);
  keep_alive_answer(8, 0);
  EXPECT_FALSE(kept.has_come());
  keep_alive_answer(9, 30);
  ASSERT_TRUE(kept.is_good());
  EXPECT_NE(kept.value().at(7), nullptr);
  EXPECT_EQ(kept.value().at(8), nullptr) << "it is gone";
  EXPECT_EQ(kept.value().at(9)->length, 30s) << "another client's";
}

TEST_F(EtcdLeases, WithoutClaimsAreNamedWhenTheyAreClosed) {
  granted(7, 12s);
  granted(8, 20s);
  leases_.is_used(8);
  EXPECT_EQ(leases_.close(), std::vector<std::int64_t>{7});
}

}  // namespace
}  // namespace holdfast::etcd
