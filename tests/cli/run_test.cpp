#include <gmock/gmock.h>
#include <signal.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Run : public World {};

TEST_F(Run, EndsWithTheCodeOfItsCommand) {
  EXPECT_EQ(run_script("x", {}, "exit 0").code, 0);
  EXPECT_EQ(run_script("x", {}, "exit 7").code, 7);
  EXPECT_EQ(run_script("x", {}, "exit 255").code, 255);
  EXPECT_EQ(run_script("x", {}, "kill -TERM $$").code, 128 + 15);
  EXPECT_EQ(run_script("x", {}, "kill -KILL $$").code, 128 + 9);
}

TEST_F(Run, PrintsNothingOfItsOwn) {
  const Finished finished = run_script("x", {}, "echo out; echo err >&2");
  EXPECT_EQ(finished.output, "out\n");
  EXPECT_EQ(finished.errors, "err\n");
}

TEST_F(Run, LeavesStandardInputToItsCommand) {
  Start start = with_store();
  start.input = "one\ntwo\n";
  EXPECT_EQ(run(tool({"run", "x", "--", "cat"}), start).output, start.input);
}

TEST_F(Run, PassesArgumentsOnUntouched) {
  const Finished finished =
      run(tool({"run", "x", "--", "printf", "<%s>", "", "a b", "--", "--try", "$HOME", "*"}), with_store());
  EXPECT_EQ(finished.output, "<><a b><--><--try><$HOME><*>");
}

TEST_F(Run, TellsItsCommandAboutTheLock) {
  const Finished finished =
      run_script("na me", {}, "echo \"$HOLDFAST_LOCK|$HOLDFAST_URL|$HOLDFAST_TOKEN|$HOLDFAST_HOLDER\"");
  EXPECT_THAT(finished.output, testing::MatchesRegex("na me\\|" + url + "\\|[0-9]+\\|[0-9a-f]+\n"));
}

TEST_F(Run, GivesEachRunALargerToken) {
  const auto token = [&] { return std::stoull(run_script("x", {}, "echo $HOLDFAST_TOKEN").output); };
  const auto first = token();
  const auto second = token();
  EXPECT_GT(second, first);
}

TEST_F(Run, KeepsThePasswordFromItsCommand) {
  Start start = with_store();
  start.environment.emplace_back("HOLDFAST_PASSWORD=canary");
  EXPECT_EQ(run(tool({"run", "x", "--", "sh", "-c", "echo ${HOLDFAST_PASSWORD-none}"}), start).output, "none\n");
}

TEST_F(Run, OpensNoDescriptorsForItsCommand) {
  const std::vector<std::string> command{"sh", "-c", "ls /proc/self/fd"};
  std::vector<std::string> words = tool({"run", "x", "--"});
  words.insert(words.end(), command.begin(), command.end());
  EXPECT_EQ(run(words, with_store()).output, run(command).output);
}

TEST_F(Run, LeavesClosedStreamsClosed) {
  const Finished finished =
      run({"sh", "-c", "\"$0\" run x -- ls -l /proc/self/fd <&- 2>&-", tool({}).front()}, with_store());
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.output, testing::Not(HasSubstr("socket:")));
  EXPECT_THAT(finished.output, testing::Not(HasSubstr("locks.db")));
}

TEST_F(Run, HoldsNobodysPipeOpen) {
  // The reader is through when the command closes its output, not when the tool ends.
  const std::string script = "echo $$ >\"$0\"; exec >&- sleep 60";
  Process process({"sh", "-c", "\"$0\" run x -- sh -c '" + script + "' \"$1\" | (cat; echo over)", tool({}).front(),
                   folder / "pid"},
                  with_store());
  const pid_t command = pid_in("pid");
  EXPECT_TRUE(eventually([&] { return process.output() == "over\n"; }));
  EXPECT_TRUE(alive(command));
  ::kill(command, SIGKILL);
  process.finish();
}

TEST_F(Run, EndsWithTheReaderOfItsPipe) {
  const Finished finished =
      run({"bash", "-c", "\"$0\" run x -- yes | head -1; echo ${PIPESTATUS[0]}", tool({}).front()}, with_store());
  EXPECT_EQ(finished.output, "y\n141\n");
  EXPECT_EQ(finished.errors, "");
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Run, GivesTheLockBackBeforeItEnds) {
  EXPECT_EQ(run_script("x", {}, "true").code, 0);
  EXPECT_EQ(run_script("x", {"--try"}, "true").code, 0);
}

TEST_F(Run, TriesOnce) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  const Finished finished = run_script("x", {"--try"}, "echo ran");
  EXPECT_EQ(finished.code, 75);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, HasSubstr("'x' is held by somebody else"));
}

TEST_F(Run, WaitsForAsLongAsItIsTold) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  const auto began = std::chrono::steady_clock::now();
  const Finished finished = run_script("x", {"--wait", "300ms"}, "echo ran");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 300ms);
  EXPECT_EQ(finished.code, 75);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, HasSubstr("'x' was still held after 300ms; run 'holdfast show x' to see by whom"));
}

TEST_F(Run, WaitsForItsTurn) {
  Client client(url);
  Hold hold = Mutex(client, "x").acquire();
  Process& for_ever = start_run("x", {}, "echo first");
  ASSERT_TRUE(gets_a_waiter("x"));
  EXPECT_TRUE(for_ever.running());
  hold.release();
  EXPECT_EQ(for_ever.finish().output, "first\n");
  EXPECT_EQ(run_script("x", {"--wait", "10s"}, "echo second").output, "second\n");
}

TEST_F(Run, KeepsALeaseThatIsShorterThanItsCommand) {
  Process& holder = start_run("x", {"--ttl", "1s"}, "echo $$ >$dir/pid; sleep 2.5");
  pid_in("pid");
  EXPECT_EQ(run_script("x", {"--wait", "2s"}, "true").code, 75);
  EXPECT_EQ(holder.finish().code, 0);
}

TEST_F(Run, SaysThatItsCommandLeftProcesses) {
  const Finished finished = run_script("x", {}, "sleep 60 >/dev/null 2>&1 & echo $! >$dir/pid");
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.errors, HasSubstr("left processes behind"));
  EXPECT_TRUE(alive(pid_in("pid"))) << "what outlives its command by its own will is left alone";
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Run, TakesALockThatIsCalledLikeASubcommand) {
  EXPECT_EQ(run_script("run", {}, "echo $HOLDFAST_LOCK").output, "run\n");
  EXPECT_EQ(run_script("help", {}, "echo $HOLDFAST_LOCK").output, "help\n");
}

TEST_F(Run, NeedsNoShell) {
  EXPECT_EQ(run(tool({"run", "x", "--", "printenv", "HOLDFAST_LOCK"}), with_store()).output, "x\n");
}

}  // namespace
}  // namespace holdfast::test
