#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "backends/etcd/claim_tracker.hpp"
#include "backends/etcd/claims.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/watches.hpp"
#include "kit/request_order.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using spi::ClaimAnswer;
using test::FakeWire;
using Kind = FakeWire::Kind;
using Answer = test::AnswerOf<ClaimAnswer>;
using KeyList = std::vector<std::string>;

const LockName name("name");
constexpr spi::ClaimId first = {.high = 0, .low = 1};
constexpr spi::ClaimId second = {.high = 0, .low = 2};

struct Events final : spi::ClaimEvents {
  void granted(const LockName&, LockKind, spi::ClaimId, const ClaimAnswer&) override {}
  void check(const LockName&, LockKind, spi::ClaimId) override {}
};

/// Locks of a server on which nobody else has any.
class EtcdClaimsThatTimedOut : public testing::Test {
 protected:
  EtcdClaimsThatTimedOut() {
    FakeWire::reset();
    calls_.wire();
    loop_.run();
  }
  ~EtcdClaimsThatTimedOut() override { calls_.close(); }

  static FakeWire& wire() { return *FakeWire::latest; }
  Answer acquire(spi::ClaimId id, std::optional<spi::ClaimId> replaces = {}) {
    Answer answer;
    claims_.acquire({.name = name, .id = id, .lease = 10s, .replaces = replaces}, answer.done());
    loop_.run();
    return answer;
  }
  test::AnswerOf<bool> release(spi::ClaimId id) {
    test::AnswerOf<bool> answer;
    claims_.release({.name = name, .kind = LockKind::lock, .id = id, .lease = 10s}, answer.done());
    loop_.run();
    return answer;
  }
  /// Every condition is true, and there are no other claims. Returns the keys that were deleted.
  KeyList answer_everything() {
    KeyList deleted;
    for (; !wire().calls.empty(); loop_.run()) {
      const FakeWire::Call call = wire().first();
      if (call.kind != Kind::transactions) {
        wire().answer(call, LeaseReply{.id = call.kind == Kind::grant_lease ? ++last_lease_ : call.lease,
                                       .seconds = call.lease,
                                       .term = 1});
        continue;
      }
      ++revision_;
      std::vector<TransactionReply> replies;
      for (const Transaction& transaction : call.transactions) {
        replies.push_back({.succeeded = true, .revision = revision_, .term = 1});
        for (const KeyOperation& operation : transaction.then) {
          replies.back().outcomes.push_back({.count = 1});
          if (const auto* const deletion = std::get_if<Delete>(&operation)) deleted.push_back(deletion->key);
        }
      }
      wire().answer(call, std::move(replies));
    }
    return deleted;
  }
  /// Nobody knows whether the claim has joined the line.
  void acquire_in_doubt(spi::ClaimId id) {
    const Answer answer = acquire(id);
    if (wire().first().kind == Kind::grant_lease) {
      wire().answer_first(LeaseReply{.id = ++last_lease_, .seconds = 10, .term = 1});
      loop_.run();
    }
    ASSERT_EQ(wire().first().kind, Kind::transactions);
    wire().fail_first(test::timed_out());
    loop_.run();
    ASSERT_EQ(answer.failure(), Errc::in_doubt);
  }
  /// The key that the claim's transaction writes if it is executed late.
  std::string late_key() const { return keys_.claim("name", ClaimMode::exclusive, {client, 0}); }
  bool is_swept(const std::string& key) {
    loop_.advance(1s);
    const KeyList deleted = answer_everything();
    return std::ranges::find(deleted, key) != deleted.end();
  }

  static constexpr std::uint64_t client = 77;
  test::ManualLoop loop_;
  Events events_;
  Address address_ = {.servers = {"a:1"}};
  ServerCalls calls_{loop_, address_, &FakeWire::prepare};
  Watches watches_{loop_, calls_};
  Leases leases_{loop_, calls_};
  Keys keys_{"holdfast"};
  kit::RequestOrder order_{loop_};
  ClaimTracker tracker_{{.loop = loop_, .events = events_}, calls_, watches_, leases_, keys_};
  EtcdClaims claims_{loop_, calls_, keys_, order_, leases_, tracker_, client};
  std::int64_t last_lease_ = 6;
  std::int64_t revision_ = 100;
};

TEST_F(EtcdClaimsThatTimedOut, LeaveNoKeyAfterTheyWereReleased) {
  acquire_in_doubt(first);
  static_cast<void>(release(first));
  answer_everything();
  EXPECT_TRUE(is_swept(late_key()));
  loop_.advance(1s);
  EXPECT_TRUE(wire().calls.empty()) << "the pauses grow";
  loop_.advance(60s);
  answer_everything();
  loop_.advance(60s);
  EXPECT_TRUE(wire().calls.empty()) << "and it ends";
}

TEST_F(EtcdClaimsThatTimedOut, LeaveNoKeyEvenIfARepeatedRequestWasAnswered) {
  acquire_in_doubt(first);
  const Answer again = acquire(first);
  answer_everything();
  EXPECT_EQ(again.value().standing, ClaimAnswer::Standing::granted);
  EXPECT_FALSE(is_swept(late_key())) << "it is the claim's";
  const auto released = release(first);
  answer_everything();
  EXPECT_TRUE(released.value());
  EXPECT_TRUE(is_swept(late_key())) << "the first request may be executed only now";
}

TEST_F(EtcdClaimsThatTimedOut, LeaveNoKeyAfterTheyWereReplaced) {
  acquire_in_doubt(first);
  const Answer other = acquire(second, first);
  answer_everything();
  EXPECT_EQ(other.value().standing, ClaimAnswer::Standing::granted);
  EXPECT_TRUE(is_swept(late_key()));
}

TEST_F(EtcdClaimsThatTimedOut, ShareNoLeaseWithLaterClaims) {
  acquire_in_doubt(first);
  static_cast<void>(release(first));
  answer_everything();
  const std::int64_t before = last_lease_;
  const Answer other = acquire(second);
  answer_everything();
  EXPECT_EQ(other.value().standing, ClaimAnswer::Standing::granted);
  EXPECT_GT(last_lease_, before) << "their renewals would keep the late key alive";
}

TEST_F(EtcdClaimsThatTimedOut, LeaveTheirKeyToNobodyElse) {
  acquire_in_doubt(first);
  static_cast<void>(release(first));
  answer_everything();
  static_cast<void>(acquire(second));
  answer_everything();
  ASSERT_NE(tracker_.find({name, LockKind::lock, second}), nullptr);
  EXPECT_NE(tracker_.find({name, LockKind::lock, second})->key, late_key());
}

}  // namespace
}  // namespace holdfast::etcd
