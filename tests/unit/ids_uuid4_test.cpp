#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include "holdfast/ids/uuid4.hpp"
#include "ids/random_source.hpp"
#include "ids_collected.hpp"

namespace holdfast::ids {
namespace {

class Uuid4s : public testing::TestWithParam<Randomness> {
 protected:
  Uuid4 ids_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, Uuid4s, testing::Values(Randomness::secure, Randomness::fast),
                         [](const auto& tested) { return tested.param == Randomness::secure ? "secure" : "fast"; });

TEST_P(Uuid4s, AreOfVersion4AndRandomInAllOtherBits) {
  std::array<int, 128> ones{};
  constexpr int count = 20'000;
  std::vector<Uuid> all(count);
  ids_.fill(all);
  for (int i = 0; i < count / 2; ++i) all[static_cast<std::size_t>(i)] = ids_.next();
  for (const Uuid& id : all) {
    ASSERT_EQ(id.version(), 4);
    ASSERT_FALSE(id.time());
    for (std::size_t bit = 0; bit < ones.size(); ++bit) ones[bit] += id.bytes()[bit / 8] >> (7 - bit % 8) & 1;
  }
  for (std::size_t bit = 0; bit < ones.size(); ++bit) {
    const bool of_version = bit >= 48 && bit < 52;
    const bool of_variant = bit == 64 || bit == 65;
    if (of_version || of_variant) continue;
    EXPECT_NEAR(ones[bit], count / 2, 566) << bit;  // 8 standard deviations of 71
  }
}

TEST_P(Uuid4s, FillAllOfASpanAndNothingElse) {
  for (const std::size_t size : {0U, 1U, 2U, 31U, 32U, 33U, 221U, 222U, 223U, 1'000U}) {
    std::vector<Uuid> ids(size + 2);
    ids_.fill(std::span(ids).subspan(1, size));
    EXPECT_EQ(ids.front(), Uuid());
    EXPECT_EQ(ids.back(), Uuid());
    for (std::size_t i = 1; i <= size; ++i) EXPECT_EQ(ids[i].version(), 4);
  }
}

TEST_P(Uuid4s, DifferAfterAForkWhicheverIdsWereInStock) {
  EXPECT_EQ(test::repeats_after_forks([this] { return ids_.next(); }), 0U);
}

TEST_P(Uuid4s, DifferBetweenThreads) {
  std::vector<Uuid> ids(8 * 10'000);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (Uuid& id : std::span(ids).subspan(i * 10'000, 10'000)) id = ids_.next();
    });
  }
  threads.clear();
  EXPECT_EQ(test::repeats_in(ids), 0U);
}

TEST_P(Uuid4s, CanBeMadeWhileAThreadEnds) {
  // By the destructor of an object that outlives the thread's own state.
  static std::vector<Uuid> made;
  struct MakesAtTheEnd {
    Uuid4 ids;
    ~MakesAtTheEnd() { made.push_back(ids.next()); }
  };
  for (int i = 0; i < 100; ++i) {
    std::jthread([this] {
      thread_local MakesAtTheEnd last{ids_};
      made.push_back(last.ids.next());
    }).join();
  }
  EXPECT_EQ(made.size(), 200U);
  EXPECT_EQ(test::repeats_in(made), 0U);
  made.clear();
}

TEST(Uuid4, SaysWhatItPromises) {
  const Traits traits = Uuid4().traits();
  EXPECT_EQ(traits.kind, "uuid4");
  EXPECT_EQ(traits.order, Order::none);
  EXPECT_FALSE(traits.carries_time);
  EXPECT_FALSE(traits.ends);
}

TEST(Uuid4, DifferAmongTenMillion) {
  std::vector<Uuid> ids(10'000'000);
  std::vector<std::jthread> threads;
  Uuid4 generator;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { generator.fill(std::span(ids).subspan(i * 2'500'000, 2'500'000)); });
  }
  threads.clear();
  EXPECT_EQ(test::repeats_in(ids), 0U);
}

}  // namespace
}  // namespace holdfast::ids
