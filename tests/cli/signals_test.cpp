// Signals that reach a tool without a terminal.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class Signalled : public World {};

TEST_F(Signalled, ToolPassesItOnToItsCommand) {
  const std::vector<std::pair<int, std::string>> signals{{SIGINT, "INT"},   {SIGTERM, "TERM"}, {SIGHUP, "HUP"},
                                                         {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}};
  for (const auto& [number, name] : signals) {
    Process& process = start_run(
        "x", {},
        "trap 'echo got " + name + "; exit 5' " + name + "\necho $$ >$dir/" + name + "\nwhile :; do sleep 0.02; done");
    pid_in(name);
    process.signal(number);
    const Finished finished = process.finish();
    EXPECT_EQ(finished.code, 5);
    EXPECT_EQ(finished.output, "got " + name + "\n");
  }
}

TEST_F(Signalled, CommandThatDiesOfItIsReported) {
  Process& process = start_run("x", {}, "echo $$ >$dir/pid; exec sleep 60");
  pid_in("pid");
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().code, 128 + SIGTERM);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Signalled, GrandchildrenGetItToo) {
  Process& process = start_run("x", {}, "sleep 60 & echo $! >$dir/grandchild; echo $$ >$dir/pid; wait");
  pid_in("pid");
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().code, 128 + SIGTERM);
  EXPECT_TRUE(all_end({"pid", "grandchild"}));
}

TEST_F(Signalled, CommandHasAGroupOfItsOwn) {
  Process& process = start_run("x", {}, "echo $$ >$dir/pid; exec sleep 60");
  const pid_t command = pid_in("pid");
  EXPECT_EQ(::getpgid(command), command);
  EXPECT_EQ(::getpgid(process.pid()), process.pid());
}

TEST_F(Signalled, CommandFindsSignalsAsTheToolDid) {
  const std::string masks = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
  for (const std::string setting : {"", "trap '' PIPE HUP CHLD; "}) {
    const Finished through_tool =
        run({"bash", "-c", setting + "exec \"$0\" run x -- " + masks, tool({}).front()}, with_store());
    EXPECT_EQ(through_tool.output, run({"bash", "-c", setting + "exec " + masks}).output);
    EXPECT_EQ(through_tool.code, 0);
  }
}

TEST_F(Signalled, ToolUnderNohupIgnoresAHangUp) {
  Process process({"sh", "-c",
                   "trap '' HUP; exec \"$0\" run x -- sh -c 'echo $$ >\"$0\"; while [ ! -e \"$0.go\" ]; do sleep 0.02; "
                   "done; echo done' \"$1\"",
                   tool({}).front(), folder / "pid"},
                  with_store());
  pid_in("pid");
  process.signal(SIGHUP);
  run({"touch", folder / "pid.go"});
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output, "done\n");
}

TEST_F(Signalled, WaitingToolLeavesTheLine) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Process& process = start_run("x", {}, "echo ran");
    ASSERT_TRUE(gets_a_waiter("x"));
    process.signal(signal);
    const Finished finished = process.finish();
    EXPECT_EQ(finished.code, 128 + signal);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr("gave up waiting for 'x'"));
    EXPECT_TRUE(eventually([&] { return client.show("x")->waiters.empty(); }));
  }
}

}  // namespace
}  // namespace holdfast::test
