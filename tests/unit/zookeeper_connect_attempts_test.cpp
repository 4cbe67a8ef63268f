#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "backends/zookeeper/connect_attempts.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using base::Instant;

class ZookeeperConnectAttempts : public testing::Test {
 protected:
  ConnectAttempts of(std::size_t addresses) const {
    ConnectAttempts attempts;
    attempts.set_addresses(addresses);
    return attempts;
  }
  /// The server is silent, so the attempt is abandoned when its time is over, and fails.
  void let_pass(ConnectAttempts& attempts, bool accepted = false) {
    attempts.begin(now_);
    now_ = attempts.deadline(accepted);
    attempts.abandon();
    attempts.failed();
  }

  Instant now_ = Instant() + 1h;
};

TEST_F(ZookeeperConnectAttempts, OnTheOnlyAddressTakeAsLongAsTheyLike) {
  ConnectAttempts attempts = of(1);
  EXPECT_EQ(attempts.begin(now_), 0U);
  EXPECT_EQ(attempts.deadline(false), Instant::max());
  EXPECT_EQ(attempts.deadline(true), Instant::max());
  attempts.failed();
  EXPECT_EQ(attempts.begin(now_), 0U) << "there is nothing to skip";
}

TEST_F(ZookeeperConnectAttempts, HaveLessTimeUntilTheyAreAcceptedThanUntilTheSessionIs) {
  ConnectAttempts attempts = of(2);
  attempts.begin(now_);
  EXPECT_EQ(attempts.began(), now_);
  EXPECT_EQ(attempts.deadline(false), now_ + ConnectAttempts::time_to_accept);
  EXPECT_EQ(attempts.deadline(true), now_ + ConnectAttempts::time_to_establish);
}

TEST_F(ZookeeperConnectAttempts, HaveTwiceAsLongAfterEachRound) {
  ConnectAttempts attempts = of(3);
  for (const int times : {1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8}) {
    attempts.begin(now_);
    EXPECT_EQ(attempts.deadline(false) - now_, times * ConnectAttempts::time_to_accept);
    EXPECT_EQ(attempts.deadline(true) - now_, times * ConnectAttempts::time_to_establish);
    let_pass(attempts);
  }
}

TEST_F(ZookeeperConnectAttempts, ThatAreRefusedCostNobodyTime) {
  ConnectAttempts attempts = of(2);
  for (int attempt = 0; attempt < 10; ++attempt) {
    attempts.begin(now_);
    EXPECT_EQ(attempts.deadline(false) - now_, ConnectAttempts::time_to_accept);
    attempts.failed();
  }
}

TEST_F(ZookeeperConnectAttempts, BeginAnewAfterASuccess) {
  ConnectAttempts attempts = of(2);
  for (int attempt = 0; attempt < 4; ++attempt) let_pass(attempts);
  attempts.begin(now_);
  EXPECT_GT(attempts.deadline(false) - now_, ConnectAttempts::time_to_accept);
  attempts.succeeded();
  attempts.failed();  // the connection
  attempts.begin(now_);
  EXPECT_EQ(attempts.deadline(false) - now_, ConnectAttempts::time_to_accept);
}

TEST_F(ZookeeperConnectAttempts, GoOnToTheNextAddressAfterAFailure) {
  constexpr std::size_t count = 3;
  ConnectAttempts attempts = of(count);
  std::size_t library = 0;  // the address that it would try next; a failure and a connect move it by one each
  std::vector<std::size_t> tried;
  for (int attempt = 0; attempt < 6; ++attempt) {
    library = (library + attempts.begin(now_)) % count;
    tried.push_back(library);
    library = (library + 1) % count;  // it connects
    library = (library + 1) % count;  // it fails
    attempts.failed();
  }
  EXPECT_EQ(tried, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
}

TEST_F(ZookeeperConnectAttempts, AreAbandonedOneByOne) {
  ConnectAttempts attempts = of(2);
  attempts.begin(now_);
  EXPECT_FALSE(attempts.is_abandoned());
  attempts.abandon();
  EXPECT_TRUE(attempts.is_abandoned()) << "its end explains nothing";
  attempts.begin(now_);
  EXPECT_FALSE(attempts.is_abandoned());
}

}  // namespace
}  // namespace holdfast::zookeeper
