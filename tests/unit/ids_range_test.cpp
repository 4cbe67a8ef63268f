#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <vector>

#include "holdfast/ids/range.hpp"

namespace holdfast::ids {
namespace {

static_assert(std::random_access_iterator<IdRange::Iterator>);
static_assert(std::ranges::random_access_range<IdRange>);
static_assert(std::ranges::sized_range<IdRange>);
static_assert(std::ranges::common_range<IdRange>);

std::vector<std::uint64_t> all(const IdRange& range) { return {range.begin(), range.end()}; }

TEST(IdRange, CountsFromItsFirstId) {
  const IdRange range(1000, 4);
  EXPECT_EQ(all(range), (std::vector<std::uint64_t>{1000, 1001, 1002, 1003}));
  EXPECT_EQ(range.size(), 4U);
  EXPECT_EQ(range.front(), 1000U);
  EXPECT_EQ(range.back(), 1003U);
  EXPECT_EQ(range[2], 1002U);
  EXPECT_TRUE(IdRange().empty());
  EXPECT_EQ(all(IdRange()), std::vector<std::uint64_t>());
}

TEST(IdRange, CountsByItsStep) {
  EXPECT_EQ(all(IdRange(2, 4, {.step = 3})), (std::vector<std::uint64_t>{2, 5, 8, 11}));
}

TEST(IdRange, ReachesTheLargestNumber) {
  const IdRange range(~std::uint64_t{0} - 1, 2);
  EXPECT_EQ(all(range), (std::vector<std::uint64_t>{~std::uint64_t{0} - 1, ~std::uint64_t{0}}));
}

TEST(IdRange, InsertsTheWorkerBetweenTimeAndSequence) {
  // 12 bits of sequence and 10 of worker: the numbers cross from one tick to the next.
  constexpr std::uint64_t tick = 5;
  constexpr std::uint64_t worker = 777;
  const IdRange range((tick << 12) + 4094, 4, {.low_bits = 12, .inserted_bits = 10, .inserted = worker});
  EXPECT_EQ(all(range),
            (std::vector<std::uint64_t>{tick << 22 | worker << 12 | 4094, tick << 22 | worker << 12 | 4095,
                                        (tick + 1) << 22 | worker << 12, (tick + 1) << 22 | worker << 12 | 1}));
  EXPECT_TRUE(std::ranges::is_sorted(range));
}

TEST(IdRange, HasIteratorsThatMayBeMovedAtWill) {
  const auto range = IdRange(10, 100, {.step = 2});
  const auto begin = range.begin();
  auto iterator = begin + 7;
  EXPECT_EQ(*iterator, 24U);
  EXPECT_EQ(*iterator++, 24U);
  EXPECT_EQ(*iterator--, 26U);
  EXPECT_EQ(*--iterator, 22U);
  EXPECT_EQ(iterator[3], 28U);
  EXPECT_EQ(*(2 + iterator), 26U);
  EXPECT_EQ(iterator - begin, 6);
  EXPECT_EQ(begin - iterator, -6);
  EXPECT_LT(begin, iterator);
  EXPECT_EQ(range.end() - range.begin(), 100);
  EXPECT_EQ(*std::ranges::lower_bound(range, 99U), 100U);
  EXPECT_EQ(*IdRange(3, 1).begin(), 3U) << "an iterator may outlive its range";
}

}  // namespace
}  // namespace holdfast::ids
