#include "fuzz/sqlite_damage.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace holdfast::fuzz {
namespace {

std::string random_damages(std::uint32_t seed) {
  std::mt19937 dice(seed);
  const auto below = [&](unsigned limit) { return static_cast<char>(dice() % limit); };
  std::string damages(1, below(2));
  for (auto count = 1 + dice() % 20; count > 0; --count) {
    // Mostly bytes: a page, or the end of a file, takes most of it away.
    const char kind = dice() % 8 == 0 ? below(4) : below(2);
    damages += static_cast<char>(kind * 2 + below(2));
    for (int i = 0; i < 4; ++i) damages += below(256);
  }
  return damages;
}

TEST(SqliteDamage, EndsInAnErrorOrRightBehaviour) {
  Outcome all;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome outcome = play_with_damages(random_damages(seed), StoreSize::small);
    EXPECT_EQ(outcome.wrong_grants, 0U);
    all.refused += outcome.refused;
    all.worked += outcome.worked;
  }
  RecordProperty("refused", std::to_string(all.refused));
  RecordProperty("worked", std::to_string(all.worked));
  EXPECT_GT(all.refused, 300U) << "the damages are noticed";
  EXPECT_GT(all.worked, 1000U) << "and some of them concern nobody";
}

/// Nobody checks such a store as a whole, and most damages hit what nobody reads. A claim may be missed, if its name or
/// the way to its row is hit: that is documented, and rare. Nothing hangs or crashes.
TEST(SqliteDamage, OfALargeStoreRarelyHidesAClaim) {
  constexpr std::uint32_t plays = 100;
  Outcome all;
  std::uint32_t misled = 0;
  for (std::uint32_t seed = 0; seed < plays; ++seed) {
    const Outcome outcome = play_with_damages(random_damages(seed), StoreSize::large);
    misled += outcome.wrong_grants > 0 ? 1 : 0;
    all.refused += outcome.refused;
    all.worked += outcome.worked;
  }
  RecordProperty("refused", std::to_string(all.refused));
  RecordProperty("worked", std::to_string(all.worked));
  RecordProperty("misled", std::to_string(misled));
  EXPECT_LE(misled, plays / 20);
  EXPECT_GT(all.refused, 10U) << "the damages are noticed";
  EXPECT_GT(all.worked, 300U) << "and some of them concern nobody";
}

TEST(SqliteDamage, IsNotSeenWhereThereIsNone) {
  for (const StoreSize size : {StoreSize::small, StoreSize::large}) {
    for (const char* none : {"\0", "\1"}) {
      const Outcome outcome = play_with_damages(std::string_view(none, 1), size);
      EXPECT_EQ(outcome.refused, 0U);
      EXPECT_EQ(outcome.wrong_grants, 0U);
    }
  }
}

}  // namespace
}  // namespace holdfast::fuzz
