// A tool whose clocks are not those of the others: as under libfaketime, or with another time of day.
#include <gtest/gtest.h>

#include "cli/world.hpp"

namespace holdfast::test {
namespace {

class ShiftedClocks : public World, public testing::WithParamInterface<const char*> {
 protected:
  Start shifted() const {
    Start start = with_store();
    start.environment.push_back("LD_PRELOAD=" HOLDFAST_STEADY_CLOCK_SHIM);
    start.environment.push_back(std::string("HOLDFAST_CLOCK_SHIFT=") + GetParam());
    start.environment.emplace_back("ASAN_OPTIONS=verify_asan_link_order=0");
    return start;
  }
};

TEST_P(ShiftedClocks, TakeNoLockThatSomebodyHolds) {
  Process& holder = start_run("x", {}, "touch $dir/in; while :; do sleep 0.1; done");
  ASSERT_TRUE(appears("in"));
  const Finished refused = run(tool({"run", "x", "--try", "--", "true"}), shifted());
  EXPECT_EQ(refused.code, 75) << refused.errors;
  const Finished waited = run(tool({"run", "x", "--wait", "500ms", "--", "true"}), shifted());
  EXPECT_EQ(waited.code, 75) << waited.errors;
  EXPECT_TRUE(holder.running());
}

TEST_P(ShiftedClocks, HoldAndRenew) {
  const Finished finished = run(tool({"run", "x", "--ttl", "1s", "--", "sleep", "3"}), shifted());
  EXPECT_EQ(finished.code, 0) << finished.errors;
}

TEST_P(ShiftedClocks, EndACommandInTime) {
  const Finished finished =
      run(tool({"run", "x", "--max-hold", "1s", "--grace", "200ms", "--", "sleep", "3600"}), shifted());
  EXPECT_NE(finished.code, 0);
  EXPECT_NE(finished.code, -1) << "it did not end";
}

INSTANTIATE_TEST_SUITE_P(Clocks, ShiftedClocks, testing::Values("86400", "-200", "0"),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

}  // namespace
}  // namespace holdfast::test
