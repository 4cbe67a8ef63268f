#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "backends/etcd/standing_query.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

constexpr spi::Mode exclusive = {};
constexpr spi::Mode shared = {.kind = ClaimMode::shared};
spi::Mode permits(std::uint32_t count, std::uint32_t total) { return {ClaimMode::permits, count, total}; }

KeyValue stored(const std::string& key, std::int64_t revision, spi::Mode mode) {
  Record record;
  record.mode = mode;
  record.lease = std::chrono::milliseconds(revision * 1000);
  return {.key = key, .value = record.text(), .create_revision = revision, .mod_revision = revision, .lease = 1};
}

Outcome outcome(std::vector<KeyValue> found) {
  const auto count = static_cast<std::int64_t>(found.size());
  return {.found = std::move(found), .count = count};
}

StandingQuery query(ClaimMode mode, bool granted = false) {
  return {.line = "n/", .key = "n/own", .mode = mode, .create_revision = 9, .granted = granted, .place = 40};
}

std::vector<Range> operations_of(const StandingQuery& query) {
  std::vector<KeyOperation> operations;
  query.add_to(operations);
  EXPECT_EQ(operations.size(), query.size());
  std::vector<Range> ranges;
  for (const KeyOperation& each : operations) ranges.push_back(std::get<Range>(each));
  return ranges;
}

TEST(EtcdStandingQuery, ReadsOnlyTheKeyOfAGrantedClaim) {
  for (const ClaimMode mode : {ClaimMode::exclusive, ClaimMode::shared, ClaimMode::permits}) {
    const auto ranges = operations_of(query(mode, true));
    ASSERT_EQ(ranges.size(), 1U);
    EXPECT_EQ(ranges[0].key, "n/own");
    EXPECT_TRUE(ranges[0].range_end.empty());
  }
  const std::vector<Outcome> there = {outcome({stored("n/own", 9, exclusive)})};
  const auto standing = query(ClaimMode::exclusive, true).standing_in(there, 20);
  ASSERT_TRUE(standing);
  EXPECT_TRUE(standing->granted);
  EXPECT_EQ(standing->revision, 20);
  EXPECT_FALSE(query(ClaimMode::exclusive, true).standing_in(std::vector<Outcome>(1), 20));
}

TEST(EtcdStandingQuery, ReadsNothingThatJoinedLaterOrThatASharedClaimNeedNotKnow) {
  const auto of_exclusive = operations_of(query(ClaimMode::exclusive));
  ASSERT_EQ(of_exclusive.size(), 3U);
  EXPECT_EQ(of_exclusive[1].range_end, "n0");
  EXPECT_EQ(of_exclusive[1].limit, 1);
  EXPECT_TRUE(of_exclusive[1].newest_first);
  EXPECT_EQ(of_exclusive[1].not_created_after, 8);
  EXPECT_TRUE(of_exclusive[2].keys_only);
  EXPECT_GT(of_exclusive[2].limit, 0);
  const auto of_shared = operations_of(query(ClaimMode::shared));
  EXPECT_EQ(of_shared[1].range_end, "n/~");
  EXPECT_EQ(of_shared[2].range_end, "n0") << "those who stand before it are counted, whatever they want";
}

TEST(EtcdStandingQuery, OfAnExclusiveClaimEndsAtTheOneAhead) {
  const Outcome own = outcome({stored("n/own", 9, exclusive)});
  const auto first = query(ClaimMode::exclusive).standing_in(std::vector{own, Outcome(), Outcome()}, 20);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->granted);
  for (const spi::Mode mode : {exclusive, shared}) {
    const KeyValue ahead = stored("n/ahead", 7, mode);
    const auto second =
        query(ClaimMode::exclusive).standing_in(std::vector{own, outcome({ahead}), outcome({ahead, ahead, ahead})}, 20);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->granted);
    ASSERT_TRUE(second->ahead);
    EXPECT_EQ(second->ahead->key, "n/ahead");
    EXPECT_EQ(second->place, 3U);
    EXPECT_EQ(second->check_after, 7s);
  }
}

TEST(EtcdStandingQuery, OfASharedClaimPassesWhoBecameShared) {
  const Outcome own = outcome({stored("n/~own", 9, shared)});
  const KeyValue writer = stored("n/writer", 7, exclusive);
  const KeyValue was_writer = stored("n/writer", 7, shared);
  const auto behind_writer =
      query(ClaimMode::shared).standing_in(std::vector{own, outcome({writer}), outcome({writer})}, 20);
  EXPECT_FALSE(behind_writer->granted);
  EXPECT_EQ(behind_writer->ahead->key, "n/writer");
  const auto beside =
      query(ClaimMode::shared).standing_in(std::vector{own, outcome({was_writer}), outcome({was_writer})}, 20);
  EXPECT_TRUE(beside->granted);
}

TEST(EtcdStandingQuery, DoesNotCountVeryManyButKnowsHowManyTheyWere) {
  const Outcome own = outcome({stored("n/own", 9, exclusive)});
  const KeyValue ahead = stored("n/ahead", 7, exclusive);
  const std::vector<KeyValue> many(static_cast<std::size_t>(operations_of(query(ClaimMode::exclusive))[2].limit),
                                   ahead);
  const auto standing = query(ClaimMode::exclusive).standing_in(std::vector{own, outcome({ahead}), outcome(many)}, 20);
  EXPECT_EQ(standing->place, 40U);
}

TEST(EtcdStandingQuery, OfPermitsIsTheWholeLine) {
  const KeyValue large = stored("n/large", 5, permits(3, 4));
  const KeyValue own = stored("n/own", 9, permits(2, 4));
  const KeyValue later = stored("n/later", 12, permits(1, 4));
  const auto waits = query(ClaimMode::permits).standing_in(std::vector{outcome({large, own, later})}, 20);
  ASSERT_TRUE(waits);
  EXPECT_FALSE(waits->granted);
  EXPECT_FALSE(waits->ahead) << "any that goes may be enough";
  EXPECT_EQ(waits->place, 1U);
  EXPECT_TRUE(query(ClaimMode::permits).standing_in(std::vector{outcome({own, later})}, 20)->granted);
  EXPECT_FALSE(query(ClaimMode::permits).standing_in(std::vector{outcome({large, later})}, 20));
}

TEST(EtcdLine, IsNotImpressedByAClaimThatWantsAnotherTotal) {
  const Line line({stored("n/a", 5, permits(1, 1)), stored("n/b", 6, permits(1, 1)), stored("n/c", 7, permits(1, 9))});
  EXPECT_EQ(line.total(), 1U);
  EXPECT_EQ(line.claimed(), 3U);
  EXPECT_TRUE(line.is_granted(0));
  EXPECT_FALSE(line.is_granted(1));
}

}  // namespace
}  // namespace holdfast::etcd
