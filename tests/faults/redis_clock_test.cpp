// A Redis server whose clock is stepped while somebody holds a lock and somebody waits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/line.hpp"
#include "faults/redis_store.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::SizeIs;
using testing::StartsWith;

class RedisClock : public testing::Test {
 protected:
  static constexpr auto lease = 6s;
  static constexpr auto renewal_and_patience = lease / 3 + 1s;

  void SetUp() override {
    token_ = token_in(holder_.ask("acquire a " + six_seconds));
    ASSERT_GT(token_, 0U);
    line_ = line_of(store_.url(), client_, 1, six_seconds);
    ASSERT_THAT(line_, SizeIs(1));
  }

  /// On its own clock.
  std::int64_t server_seconds() { return std::stoll(store_.server().command({"TIME"})); }

  void expect_the_end_of_all_leases() {
    const test::TemporaryDirectory directory;
    const std::string file = (directory.path() / "resource").string();
    ASSERT_EQ(holder_.ask("write a " + file), "accepted");
    const std::int64_t before = server_seconds();
    store_.clock().step(step_);
    ASSERT_GE(server_seconds(), before + step_.count()) << "the step did nothing";
    holder_.send("await_loss a");
    EXPECT_GT(token_in(line_[0]->receive(renewal_and_patience + slack).value_or("no answer")), token_);
    EXPECT_EQ(line_[0]->ask("write a " + file), "accepted");
    EXPECT_EQ(holder_.receive(renewal_and_patience + slack).value_or("not told"), "lost");
    EXPECT_EQ(holder_.ask("write a " + file), "refused");
    EXPECT_EQ(holder_.ask("release a"), "not_held");
    EXPECT_EQ(line_[0]->ask("valid a"), "yes");
    EXPECT_EQ(line_[0]->ask("release a"), "released");
  }

  const std::string six_seconds = "6000 40000";
  std::chrono::seconds step_ = {};
  RedisStore store_;
  const Client client_{store_.url()};
  ProcessPeer holder_{store_.url()};
  Line line_;
  std::uint64_t token_ = 0;
};

TEST_F(RedisClock, ForwardByMoreThanALeaseEndsAllLeases) {
  step_ = 20s;
  expect_the_end_of_all_leases();
}

TEST_F(RedisClock, ForwardByAnHourEndsAllLeasesAndExpiresAllKeys) {
  step_ = 1h;
  expect_the_end_of_all_leases();
}

TEST_F(RedisClock, ForwardByLessThanWhatRenewalsLeaveHarmsNobody) {
  store_.clock().step(lease / 2);
  EXPECT_EQ(line_[0]->receive(lease).value_or("waits"), "waits");
  EXPECT_EQ(holder_.ask("valid a"), "yes");
  EXPECT_EQ(holder_.ask("release a"), "released");
  EXPECT_GT(token_in(line_[0]->receive()), token_);
}

TEST_F(RedisClock, BackwardGrantsNothingTwiceAndTokensRise) {
  const std::int64_t before = server_seconds();
  store_.clock().step(-1h);
  ASSERT_LT(server_seconds(), before - 3000) << "the step did nothing";
  EXPECT_EQ(line_[0]->receive(lease).value_or("waits"), "waits") << "for longer than the lease";
  EXPECT_EQ(holder_.ask("valid a"), "yes");
  ProcessPeer newcomer(store_.url());
  EXPECT_EQ(newcomer.ask("acquire a 6000 0"), "timed_out");
  EXPECT_EQ(holder_.ask("release a"), "released");
  const std::uint64_t second = token_in(line_[0]->receive());
  EXPECT_GT(second, token_);
  EXPECT_EQ(newcomer.ask("acquire a 6000 0"), "timed_out");
  EXPECT_EQ(line_[0]->ask("release a"), "released");
  EXPECT_GT(token_in(newcomer.ask("acquire a 6000 10000")), second);
}

TEST_F(RedisClock, BackwardMakesADeadHolderLastLongerByNoMoreThanTheStep) {
  constexpr auto step = 5s;
  store_.clock().step(-step);
  holder_.kill();
  const auto took = time_of([&] { EXPECT_TRUE(is_granted_within(*line_[0], lease + step + slack)); });
  EXPECT_GE(took, lease * 2 / 3 - 100ms);
}

}  // namespace
}  // namespace holdfast::faults
