// The tool as a job of an interactive shell.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "cli/shell.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/semaphore.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class Terminal : public World {
 protected:
  /// Types `$tool run x FLAGS -- sh FILE; echo code=...`; the script's `$dir` is the case's folder.
  void type_run(const std::string& flags, const std::string& script) {
    std::ofstream(folder / "script") << "dir='" << folder.string() << "'\n" << script << "\n";
    shell.type("$tool run x " + flags + " -- sh " + (folder / "script").string() + "; echo code=$?.\n");
  }
  /// A script that waits, without starting another program, until let_go(). (A shell that starts one with vfork() just
  /// when Ctrl-Z is pressed hangs until the child, already stopped, is continued; with or without the tool.)
  std::string waiting_script() {
    EXPECT_EQ(::mkfifo((folder / "gate").c_str(), 0600), 0);
    return "echo $$ >$dir/pid; read line <$dir/gate; echo went on";
  }
  void let_go() const { std::ofstream(folder / "gate") << "go\n"; }
  static bool is_stopped(pid_t pid) { return state_of(pid) == 'T'; }

  Shell shell{url};
};

TEST_F(Terminal, CtrlCReachesTheCommandOnce) {
  type_run("",
           "trap 'echo got it; sleep 0.3; exit 5' INT\n"
           "echo $$ >$dir/pid\n"
           "while :; do sleep 0.02; done");
  pid_in("pid");
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("got it"));
  EXPECT_TRUE(shell.shows("code=5."));
  EXPECT_EQ(shell.screen().find("got it"), shell.screen().rfind("got it"));
}

TEST_F(Terminal, SignalFromElsewhereIsPassedOn) {
  type_run("",
           "trap 'echo got it; exit 5' TERM\n"
           "echo $PPID >$dir/guardian\n"
           "while :; do sleep 0.02; done");
  ::kill(parent_of(pid_in("guardian")), SIGTERM);
  EXPECT_TRUE(shell.shows("got it"));
  EXPECT_TRUE(shell.shows("code=5."));
}

TEST_F(Terminal, SaysForWhomItWaits) {
  Client client(url, {.label = "somebody"});
  const Hold hold = Mutex(client, "x").acquire();
  type_run("", "echo ran");
  EXPECT_TRUE(shell.shows("holdfast: waiting for 'x', held by "));
  EXPECT_TRUE(shell.shows(":" + std::to_string(::getpid()) + " (somebody) for "));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("code=130."));
}

TEST_F(Terminal, SaysForWhichLeaderItWaits) {
  Client client(url, {.label = "somebody"});
  Election election(client, "x");
  election.campaign("value");
  shell.type("$tool elect x -- true; echo code=$?.\n");
  EXPECT_TRUE(shell.shows("holdfast: waiting for 'x', held by "));
  EXPECT_TRUE(shell.shows(":" + std::to_string(::getpid()) + " (somebody) for "));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("code=130."));
}

TEST_F(Terminal, SaysForWhosePermitsItWaits) {
  Client client(url, {.label = "somebody"});
  Client other(url, {.label = "another"});
  const Hold first = Semaphore(client, "x", 2).acquire();
  const Hold second = Semaphore(other, "x", 2).acquire();
  type_run("--permits 2/2", "echo ran");
  EXPECT_TRUE(shell.shows("holdfast: waiting for 'x', held by "));
  EXPECT_TRUE(shell.shows(":" + std::to_string(::getpid()) + " (somebody) and 1 more for "));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("code=130."));
}

/// Who took it by another library may be unknown, and so is since when.
TEST_F(Terminal, SaysThatItWaitsForSomebodyUnknown) {
  const RedisServer server;
  server.command({"SET", "x", "by another library", "PX", "60000"});
  Shell at_redis(server.url() + "?layout=plain");
  at_redis.type("$tool run x -- true; echo code=$?.\n");
  EXPECT_TRUE(at_redis.shows("holdfast: waiting for 'x', held by (unknown)\r\n"));
  at_redis.type(Shell::ctrl_c);
  EXPECT_TRUE(at_redis.shows("code=130."));
}

TEST_F(Terminal, CtrlCWhileWaitingLeavesTheLine) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  type_run("", "echo ran");
  ASSERT_TRUE(gets_a_waiter("x"));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("code=130."));
  EXPECT_THAT(shell.screen(), Not(HasSubstr("ran\r")));
  EXPECT_TRUE(eventually([&] { return client.show("x")->waiters.empty(); }));
}

TEST_F(Terminal, CommandStaysInTheJobsGroup) {
  type_run("", "echo $$ >$dir/pid; echo $PPID >$dir/guardian; exec sleep 60");
  EXPECT_EQ(::getpgid(pid_in("pid")), ::getpgid(pid_in("guardian")));
  EXPECT_NE(::getpgid(pid_in("pid")), pid_in("pid"));
  ::kill(pid_in("pid"), SIGTERM);
  EXPECT_TRUE(shell.shows("code=143."));
}

TEST_F(Terminal, CommandCanReadFromIt) {
  type_run("", "echo $$ >$dir/pid; read line; echo \"read <$line>\"");
  pid_in("pid");
  shell.type("hello\n");
  EXPECT_TRUE(shell.shows("read <hello>"));
  EXPECT_TRUE(shell.shows("code=0."));
}

TEST_F(Terminal, CtrlZStopsTheJobAndFgContinuesIt) {
  type_run("--ttl 30s", waiting_script());
  const pid_t command = pid_in("pid");
  shell.type(Shell::ctrl_z);
  EXPECT_TRUE(shell.shows("Stopped"));
  EXPECT_TRUE(is_stopped(command)) << "the tool stops after the command";
  EXPECT_TRUE(is_stopped(parent_of(parent_of(command))));
  shell.type("fg; echo code=$?.\n");
  EXPECT_TRUE(eventually([&] { return !is_stopped(command); }));
  let_go();
  EXPECT_TRUE(shell.shows("went on"));
  EXPECT_TRUE(shell.shows("code=0."));
}

TEST_F(Terminal, CommandOfAJobThatWasStoppedForTooLongIsDead) {
  type_run("--ttl 1s", waiting_script());
  const pid_t command = pid_in("pid");
  shell.type(Shell::ctrl_z);
  ASSERT_TRUE(shell.shows("Stopped"));
  const Finished next = run_script("x", {}, "kill -0 $(cat $dir/pid) 2>/dev/null && echo alive || echo dead");
  EXPECT_EQ(next.output, "dead\n");
  EXPECT_FALSE(alive(command));
  shell.type("fg; echo code=$?.\n");
  EXPECT_TRUE(shell.shows("code=79."));
  EXPECT_THAT(shell.screen(), Not(HasSubstr("went on")));
}

TEST_F(Terminal, CommandThatIgnoresCtrlZKeepsTheJobRunning) {
  type_run("--ttl 1s", "trap '' TSTP; " + waiting_script());
  const pid_t command = pid_in("pid");
  shell.type(Shell::ctrl_z);
  EXPECT_FALSE(eventually(1500ms, [&] { return !alive(command) || is_stopped(command); }));
  let_go();
  EXPECT_TRUE(shell.shows("went on"));
  EXPECT_TRUE(shell.shows("code=0."));
}

TEST_F(Terminal, CtrlZWhileWaitingStopsTheWait) {
  Client client(url);
  Hold hold = Mutex(client, "x").acquire();
  type_run("", "echo my turn");
  ASSERT_TRUE(gets_a_waiter("x"));
  shell.type(Shell::ctrl_z);
  ASSERT_TRUE(shell.shows("Stopped"));
  shell.type("fg; echo code=$?.\n");
  hold.release();
  EXPECT_TRUE(shell.shows("my turn"));
  EXPECT_TRUE(shell.shows("code=0."));
}

TEST_F(Terminal, PipesWork) {
  shell.type("$tool run x -- yes | head -1; echo codes=${PIPESTATUS[*]}.\n");
  EXPECT_TRUE(shell.shows("y\r\n"));
  EXPECT_TRUE(shell.shows("codes=141 0."));
}

TEST_F(Terminal, ClosingItEndsTheCommand) {
  {
    Shell closed(url);
    closed.type("$tool run x -- sh -c 'echo $$ >" + (folder / "pid").string() + "; exec sleep 60'\n");
    pid_in("pid");
  }
  EXPECT_TRUE(all_end({"pid"}));
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Terminal, GetsColoursUnlessTheyAreRefused) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  shell.type("$tool ls; echo over\n");
  EXPECT_TRUE(shell.shows("\x1b[1mNAME"));
  EXPECT_TRUE(shell.shows("over"));
  shell.type("clear; NO_COLOR=1 $tool ls; echo over\n");
  EXPECT_TRUE(shell.shows("NAME"));
  EXPECT_TRUE(shell.shows("over"));
  EXPECT_EQ(shell.screen().find("\x1b[1m"), shell.screen().rfind("\x1b[1m"));
  shell.type("TERM=dumb $tool ls | cat; echo over\n");
  EXPECT_TRUE(shell.shows("over"));
  EXPECT_EQ(shell.screen().find("\x1b[1m"), shell.screen().rfind("\x1b[1m"));
}

}  // namespace
}  // namespace holdfast::test
