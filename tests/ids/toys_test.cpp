// What other generators do is found out, so the audit is worth something.

#include "ids/toys.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::ids_sim {
namespace {

std::uint64_t seeds_with_duplicates(Custom custom) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    if (duplicates_of(custom, seed) > 0) ++found;
  }
  return found;
}

TEST(IdsSimulationControl, FindsThatReportingTheTimeEvery3SecondsIsNotEnough) {
  EXPECT_GT(seeds_with_duplicates(Custom::reports_every_3_s), 5U);
}

TEST(IdsSimulationControl, FindsThatALeaseWithoutAFenceIsNotEnough) {
  EXPECT_GT(seeds_with_duplicates(Custom::does_not_fence), 5U);
}

}  // namespace
}  // namespace holdfast::ids_sim
