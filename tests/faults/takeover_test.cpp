// Processes that die, or stand still, while they hold a lock or wait for one; for every store. The others are delayed
// by one lease at most, however many it were.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "faults/line.hpp"
#include "faults/store.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::SizeIs;
using testing::StartsWith;

constexpr auto lease = 3s;
/// For `acquire`: the lease, and for how long it waits.
const std::string three_seconds = "3000 30000";

class Takeover : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override { ASSERT_THAT(holder_.ask("acquire a " + three_seconds), StartsWith("granted")); }

  Line line(std::size_t count) const { return line_of(store_->url(), client_, count, three_seconds); }

  const std::unique_ptr<Store> store_ = GetParam().make();
  const Client client_{store_->url()};
  ProcessPeer holder_{store_->url()};
};

/// Where waiters have an order.
class LineTakeover : public Takeover {};

TEST_P(Takeover, AKilledHolderIsFollowedWithinItsLease) {
  const Line line = this->line(1);
  ASSERT_THAT(line, SizeIs(1));
  holder_.kill();
  EXPECT_TRUE(is_granted_within(*line[0], lease + slack));
}

TEST_P(Takeover, AKilledHolderIsFollowedByWhoeverComesLater) {
  holder_.kill();
  ProcessPeer next(store_->url());
  next.send("acquire a " + three_seconds);
  EXPECT_TRUE(is_granted_within(next, lease + slack));
}

TEST_P(Takeover, AHolderThatStoodStillForTooLongIsToldAndFencedOff) {
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "resource").string();
  ASSERT_EQ(holder_.ask("write a " + file), "accepted");
  const Line line = this->line(1);
  ASSERT_THAT(line, SizeIs(1));
  holder_.pause();
  const auto took = time_of([&] { EXPECT_TRUE(is_granted_within(*line[0], lease + slack)); });
  EXPECT_GE(took, lease * 2 / 3 - 100ms) << "a renewal is never older than a third of the lease";
  ASSERT_EQ(line[0]->ask("write a " + file), "accepted");
  holder_.resume();
  EXPECT_EQ(holder_.ask("valid a"), "no");
  EXPECT_EQ(holder_.ask("write a " + file), "refused");
  EXPECT_EQ(holder_.ask("await_loss a"), "lost");
  EXPECT_EQ(holder_.ask("release a"), "not_held");
  EXPECT_EQ(line[0]->ask("valid a"), "yes");
}

TEST_P(LineTakeover, AWaiterKilledAtTheHeadDelaysTheNextByItsLease) {
  const Line line = this->line(3);
  ASSERT_THAT(line, SizeIs(3));
  line[0]->kill();
  EXPECT_TRUE(waits(*line[1])) << "the holder is alive";
  ASSERT_EQ(holder_.ask("release a"), "released");
  ASSERT_TRUE(is_granted_within(*line[1], lease + slack));
  ASSERT_EQ(line[1]->ask("release a"), "released");
  EXPECT_TRUE(is_granted_within(*line[2], slack));
}

TEST_P(LineTakeover, AWaiterKilledInTheMiddleChangesNoOrder) {
  const Line line = this->line(4);
  ASSERT_THAT(line, SizeIs(4));
  line[1]->kill();
  ASSERT_EQ(holder_.ask("release a"), "released");
  ASSERT_TRUE(is_granted_within(*line[0], slack));
  ASSERT_EQ(line[0]->ask("release a"), "released");
  ASSERT_TRUE(is_granted_within(*line[2], lease + slack));
  ASSERT_EQ(line[2]->ask("release a"), "released");
  EXPECT_TRUE(is_granted_within(*line[3], slack));
}

TEST_P(LineTakeover, FiveWaitersKilledInARowCostOneLeaseTogether) {
  const Line line = this->line(6);
  ASSERT_THAT(line, SizeIs(6));
  for (std::size_t i = 0; i < 5; ++i) line[i]->kill();
  ASSERT_EQ(holder_.ask("release a"), "released");
  EXPECT_TRUE(is_granted_within(*line[5], lease + slack));
}

TEST_P(LineTakeover, AHolderAndItsLineKilledTogetherCostOneLease) {
  const Line line = this->line(4);
  ASSERT_THAT(line, SizeIs(4));
  for (std::size_t i = 0; i < 3; ++i) line[i]->kill();
  holder_.kill();
  EXPECT_TRUE(is_granted_within(*line[3], lease + slack));
}

std::vector<StoreKind> with_an_order() {
  std::vector<StoreKind> kinds = store_kinds();
  std::erase_if(kinds, [](const StoreKind& kind) { return !kind.fifo; });
  return kinds;
}

std::string text_of(const testing::TestParamInfo<StoreKind>& kind) { return kind.param.name; }

INSTANTIATE_TEST_SUITE_P(Store, Takeover, testing::ValuesIn(store_kinds()), &text_of);
INSTANTIATE_TEST_SUITE_P(Store, LineTakeover, testing::ValuesIn(with_an_order()), &text_of);

}  // namespace
}  // namespace holdfast::faults
