// A tool whose clocks are not those of the others: as under libfaketime, or with another time of day.
#include <gtest/gtest.h>

#include "cli/shell.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

/// By how many seconds the clocks are off, and how many times as fast they go.
struct Skew {
  const char* shift;
  const char* rate = "1";
};

class ShiftedClocks : public World, public testing::WithParamInterface<Skew> {
 protected:
  static std::vector<std::string> variables() {
    return {"LD_PRELOAD=" HOLDFAST_STEADY_CLOCK_SHIM, std::string("HOLDFAST_CLOCK_SHIFT=") + GetParam().shift,
            std::string("HOLDFAST_CLOCK_RATE=") + GetParam().rate, known_leaks(),
            "ASAN_OPTIONS=verify_asan_link_order=0"};
  }
  Start shifted() const {
    Start start = with_store();
    for (const std::string& variable : variables()) start.environment.push_back(variable);
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

TEST_P(ShiftedClocks, HoldAndWaitAtAServer) {
  const RedisServer server;
  url = server.url();
  Process& other = start_run("y", {}, "touch $dir/in; while :; do sleep 0.1; done");
  ASSERT_TRUE(appears("in"));
  const Finished refused = run(tool({"run", "y", "--wait", "500ms", "--", "true"}), shifted());
  EXPECT_EQ(refused.code, 75) << refused.errors;
  EXPECT_TRUE(other.running());
  const Finished held = run(tool({"run", "x", "--ttl", "1s", "--", "sleep", "3"}), shifted());
  EXPECT_EQ(held.code, 0) << held.errors;
}

TEST_P(ShiftedClocks, WatchWhatHappens) {
  Process watching(tool({"watch"}), shifted());
  ASSERT_TRUE(eventually([&] { return watching.errors().find("watching") != std::string::npos; }));
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  EXPECT_TRUE(eventually([&] { return watching.output().find("acquired") != std::string::npos; })) << watching.output();
}

TEST_P(ShiftedClocks, SayForWhomTheyWait) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  Shell shell(url);
  std::string line;
  for (const std::string& variable : variables()) line += "'" + variable + "' ";
  shell.type("env " + line + "$tool run x -- true; echo code=$?.\n");
  EXPECT_TRUE(shell.shows("holdfast: waiting for 'x', held by "));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("code=130."));
}

INSTANTIATE_TEST_SUITE_P(Clocks, ShiftedClocks,
                         testing::Values(Skew{.shift = "86400"}, Skew{.shift = "-200"}, Skew{.shift = "0"},
                                         Skew{.shift = "0", .rate = "3"}),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

}  // namespace
}  // namespace holdfast::test
