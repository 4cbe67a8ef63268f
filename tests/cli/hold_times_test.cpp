// `run --min-hold`, `--max-hold`, `--grace` and `--on-lost warn`.
#include <gmock/gmock.h>
#include <signal.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

class HoldTimes : public World {
 protected:
  /// Ends when `$dir/go` is there.
  static constexpr auto until_go = "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done; echo went on";
  void let_go() const { run({"touch", folder / "go"}); }
};

TEST_F(HoldTimes, MinHoldKeepsTheLock) {
  const auto began = steady_clock::now();
  Process& holder = start_run("x", {"--min-hold", "1500ms"}, "echo $$ >$dir/pid; exit 5");
  pid_in("pid");
  ASSERT_TRUE(eventually([&] { return !alive(pid_in("pid")); }));
  EXPECT_EQ(run_script("x", {"--try"}, "echo ran").code, 75);
  EXPECT_EQ(holder.finish().code, 5);
  EXPECT_GE(steady_clock::now() - began, 1500ms);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(HoldTimes, MinHoldEndsWithASignal) {
  Process& holder = start_run("x", {"--min-hold", "60s"}, "echo $$ >$dir/pid; exit 5");
  pid_in("pid");
  ASSERT_TRUE(eventually([&] { return !alive(pid_in("pid")); }));
  holder.signal(SIGTERM);
  EXPECT_EQ(holder.finish().code, 5);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(HoldTimes, MinHoldEndsWithASignalThatTheCommandGot) {
  Process& holder =
      start_run("x", {"--min-hold", "60s"}, "trap 'exit 6' TERM; echo $$ >$dir/pid; while :; do sleep 0.02; done");
  pid_in("pid");
  holder.signal(SIGTERM);
  EXPECT_EQ(holder.finish().code, 6);
}

TEST_F(HoldTimes, MinHoldDoesNotProlongALongCommand) {
  const auto began = steady_clock::now();
  EXPECT_EQ(run_script("x", {"--min-hold", "10ms"}, "sleep 0.1").code, 0);
  EXPECT_LT(steady_clock::now() - began, patience);
}

TEST_F(HoldTimes, MaxHoldEndsTheCommandBeforeTheNextOneBegins) {
  Process& holder =
      start_run("x", {"--max-hold", "1s"}, "trap '' TERM; echo $$ >$dir/pid; while :; do sleep 0.02; done");
  pid_in("pid");
  EXPECT_EQ(run_script("x", {}, "kill -0 $(cat $dir/pid) 2>/dev/null && echo alive || echo dead").output, "dead\n");
  const Finished finished = holder.finish();
  EXPECT_EQ(finished.code, 79);
  EXPECT_THAT(finished.errors, HasSubstr("'x' was lost: it was held for 1s, as long as --max-hold allows"));
}

TEST_F(HoldTimes, MaxHoldAsksTheCommandFirst) {
  const Finished finished =
      run_script("x", {"--max-hold", "2s"}, "trap 'echo tidy; exit 4' TERM; while :; do sleep 0.02; done");
  EXPECT_EQ(finished.output, "tidy\n");
  EXPECT_EQ(finished.code, 79);
}

TEST_F(HoldTimes, MaxHoldLeavesAQuickCommandAlone) {
  EXPECT_EQ(run_script("x", {"--max-hold", "20s"}, "echo quick").output, "quick\n");
}

TEST_F(HoldTimes, MaxHoldOfACommandThatMaySurvive) {
  Process& holder = start_run("x", {"--max-hold", "1s", "--on-lost", "warn"}, until_go);
  pid_in("pid");
  EXPECT_EQ(run_script("x", {}, "kill -0 $(cat $dir/pid) && echo alive").output, "alive\n");
  let_go();
  const Finished finished = holder.finish();
  EXPECT_EQ(finished.code, 79);
  EXPECT_EQ(finished.output, "went on\n");
}

TEST_F(HoldTimes, GraceIsTheTimeToTidyUp) {
  const auto tidies = [&](const std::string& grace) {
    std::filesystem::remove(folder / "pid");
    Process& holder =
        start_run("x", {"--grace", grace, "--ttl", "20s"},
                  "trap 'sleep 0.5; echo tidy; exit' TERM; echo $$ >$dir/pid; while :; do sleep 0.02; done");
    pid_in("pid");
    EXPECT_TRUE(Client(url).evict("x"));
    const Finished finished = holder.finish();
    EXPECT_EQ(finished.code, 79);
    return finished.output == "tidy\n";
  };
  EXPECT_FALSE(tidies("0s"));
  EXPECT_TRUE(tidies("5s"));
}

TEST_F(HoldTimes, CommandThatMaySurviveIsWarned) {
  Process& holder = start_run("x", {"--on-lost", "warn"}, until_go);
  const pid_t command = pid_in("pid");
  ASSERT_TRUE(Client(url).evict("x"));
  ASSERT_TRUE(eventually([&] { return holder.errors().find("warning: 'x' was lost") != std::string::npos; }));
  EXPECT_TRUE(alive(command));
  let_go();
  const Finished finished = holder.finish();
  EXPECT_EQ(finished.output, "went on\n");
  EXPECT_EQ(finished.code, 79) << "a success that was not under the lock";
}

TEST_F(HoldTimes, FailureOfACommandThatSurvivedIsItsOwn) {
  Process& holder = start_run("x", {"--on-lost", "warn"}, std::string(until_go) + "; exit 3");
  pid_in("pid");
  ASSERT_TRUE(Client(url).evict("x"));
  ASSERT_TRUE(eventually([&] { return holder.errors().find("was lost") != std::string::npos; }));
  let_go();
  EXPECT_EQ(holder.finish().code, 3);
}

TEST_F(HoldTimes, CommandThatMaySurviveOutlivesItsLease) {
  Process& holder = start_run("x", {"--ttl", "1s", "--on-lost", "warn"}, until_go);
  const pid_t command = pid_in("pid");
  holder.signal(SIGSTOP);
  EXPECT_EQ(run_script("x", {}, "echo next").output, "next\n");
  EXPECT_TRUE(alive(command));
  holder.signal(SIGCONT);
  let_go();
  EXPECT_EQ(holder.finish().code, 79);
}

TEST_F(HoldTimes, CommandThatMaySurviveOutlivesTheTool) {
  Process& holder = start_run("x", {"--on-lost", "warn"}, until_go);
  const pid_t command = pid_in("pid");
  holder.signal(SIGKILL);
  ASSERT_TRUE(becomes_free("x"));
  EXPECT_TRUE(eventually([&] { return holder.errors().find("the tool was killed") != std::string::npos; }));
  EXPECT_TRUE(alive(command));
  let_go();
  EXPECT_TRUE(eventually([&] { return !alive(command); }));
}

}  // namespace
}  // namespace holdfast::test
