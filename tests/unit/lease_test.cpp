#include "core/engine/lease.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using base::Instant;

TEST(Lease, IsNotValidBeforeItIsAcknowledged) {
  const Lease lease(10s);
  EXPECT_FALSE(lease.acknowledged());
  EXPECT_EQ(lease.valid_until(), Instant::min());
}

TEST(Lease, GivesAwayOnePercentAndTwoMilliseconds) {
  Lease lease(10s);
  lease.armed(Instant(1h), 10s);
  EXPECT_EQ(lease.valid_until(), Instant(1h + 10s - 100ms - 2ms));
}

TEST(Lease, CountsTheLeaseThatTheStoreGranted) {
  Lease lease(1s);
  lease.armed(Instant(1h), 2s);
  EXPECT_EQ(lease.valid_until(), Instant(1h + 2s - 20ms - 2ms));
}

TEST(Lease, NeverMovesBack) {
  Lease lease(10s);
  lease.armed(Instant(2h), 10s);
  const Instant valid_until = lease.valid_until();
  lease.armed(Instant(1h), 10s);
  EXPECT_EQ(lease.valid_until(), valid_until);
  lease.armed(Instant::min(), 10s);
  EXPECT_EQ(lease.valid_until(), valid_until);
}

TEST(Lease, IsDueWithinTheThirdOfItsTtl) {
  for (const auto sent_at : {Instant(1h), Instant(1h + 123456789ns), Instant(1ns)}) {
    const Lease lease(9s);
    EXPECT_LE(lease.renewal_due(sent_at), sent_at + 3s);
    EXPECT_GT(lease.renewal_due(sent_at), sent_at + 2s);
  }
}

TEST(Lease, IsDueTogetherWithOthersOfAboutTheSameTime) {
  const Lease lease(9s);
  EXPECT_EQ(lease.renewal_due(Instant(3750ms)), lease.renewal_due(Instant(3750ms + 374ms)));
}

}  // namespace
}  // namespace holdfast::core
