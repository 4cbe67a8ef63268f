// A lock that is lost while the command runs: the command ends first.
#include <gmock/gmock.h>
#include <signal.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Ignores SIGTERM, so that only SIGKILL ends it.
constexpr auto stubborn_script =
    "trap '' TERM\n"
    "echo $$ >$dir/pid\n"
    "while :; do sleep 0.02; done";

class Lost : public World {
 protected:
  /// What the next holder sees of the stubborn command: `alive` or `dead`.
  static constexpr auto look_script = "if kill -0 $(cat $dir/pid) 2>/dev/null; then echo alive; else echo dead; fi";
};

TEST_F(Lost, CommandOfAStoppedToolIsDeadBeforeTheNextHolderStarts) {
  Process& stopped = start_run("x", {"--ttl", "1s"}, stubborn_script);
  pid_in("pid");
  Process& next = start_run("x", {}, look_script);
  ASSERT_TRUE(gets_a_waiter("x"));
  stopped.signal(SIGSTOP);
  EXPECT_EQ(next.finish().output, "dead\n");
  stopped.signal(SIGCONT);
  const Finished finished = stopped.finish();
  EXPECT_EQ(finished.code, 79);
  EXPECT_THAT(finished.errors, HasSubstr("'x' was lost"));
}

TEST_F(Lost, ControlACommandWithoutAWorkingGuardianIsSeenAlive) {
  Process& stopped = start_run("x", {"--ttl", "1s"}, stubborn_script);
  pid_in("pid");
  Process& next = start_run("x", {}, look_script);
  ASSERT_TRUE(gets_a_waiter("x"));
  const pid_t guardian = children_of(stopped.pid()).at(0);
  ::kill(guardian, SIGSTOP);
  stopped.signal(SIGSTOP);
  EXPECT_EQ(next.finish().output, "alive\n");
  ::kill(guardian, SIGKILL);  // it would stay stopped for ever
}

TEST_F(Lost, CommandOfAToolThatGoesOnInTimeLives) {
  Process& process = start_run("x", {}, "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done");
  const pid_t command = pid_in("pid");
  process.signal(SIGSTOP);
  EXPECT_FALSE(eventually(500ms, [&] { return !alive(command); }));
  process.signal(SIGCONT);
  run({"touch", folder / "go"});
  EXPECT_EQ(process.finish().code, 0);
}

TEST_F(Lost, JobThatIsStoppedAsAWholeAndContinuedTooLateDoesNotGoOn) {
  // Nobody can end it while all of it is stopped; but when it goes on, its guardian is quick.
  Process& stopped = start_run("x", {"--ttl", "1s"}, stubborn_script);
  const pid_t command = pid_in("pid");
  const pid_t guardian = children_of(stopped.pid()).at(0);
  for (const pid_t pid : {stopped.pid(), guardian, command}) ::kill(pid, SIGSTOP);
  EXPECT_EQ(run_script("x", {}, look_script).output, "alive\n") << "else this shows nothing";
  for (const pid_t pid : {command, guardian, stopped.pid()}) ::kill(pid, SIGCONT);
  EXPECT_TRUE(all_end({"pid"}));
  EXPECT_EQ(stopped.finish().code, 79);
}

TEST_F(Lost, CommandIsAskedToEndFirst) {
  Process& process = start_run("x", {},
                               "trap 'echo tidied up; exit 3' TERM\n"
                               "echo $$ >$dir/pid\n"
                               "while :; do sleep 0.02; done");
  pid_in("pid");
  Client(url).evict("x");
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 79) << "whatever the command's own code is";
  EXPECT_EQ(finished.output, "tidied up\n");
  EXPECT_THAT(finished.errors, HasSubstr("'x' was lost: it was taken away"));
}

TEST_F(Lost, CommandThatDoesNotEndIsKilled) {
  Process& process = start_run("x", {}, stubborn_script);
  pid_in("pid");
  Client(url).evict("x");
  EXPECT_EQ(process.finish().code, 79);
  EXPECT_TRUE(all_end({"pid"}));
}

TEST_F(Lost, DescendantsEndWithTheCommand) {
  Process& process =
      start_run("x", {},
                "(setsid sh -c 'trap \"\" TERM; echo $$ >'$dir'/stray; while :; do sleep 0.02; done' &)\n"
                "echo $$ >$dir/pid\n"
                "exec sleep 60");
  pid_in("pid");
  pid_in("stray");
  Client(url).evict("x");
  EXPECT_EQ(process.finish().code, 79);
  EXPECT_FALSE(alive(pid_in("stray"))) << "the tool ends after everybody else";
}

TEST_F(Lost, CommandEndsBeforeALeaseThatCannotBeRenewed) {
  Process& process = start_run("x", {"--ttl", "1s"},
                               "trap 'echo asked' TERM\n"
                               "echo $$ >$dir/pid\n"
                               "while :; do sleep 0.02; done");
  pid_in("pid");
  // Nobody else can write to the store while this transaction is open.
  Process blocker({"sh", "-c", "(echo 'BEGIN EXCLUSIVE;'; exec sleep 60) | exec sqlite3 \"$0\"", folder / "locks.db"});
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 79);
  EXPECT_EQ(finished.output, "asked\n");
  EXPECT_THAT(finished.errors, HasSubstr("could not be renewed in time"));
  EXPECT_FALSE(alive(pid_in("pid")));
  ::kill(-blocker.pid(), SIGKILL);
}

TEST_F(Lost, LeaseThatWasGoodToTheEndIsEnoughWhenTheReleaseIsInDoubt) {
  for (const int code : {0, 3}) {
    std::filesystem::remove(folder / "pid");
    std::filesystem::remove(folder / "go");
    const std::string name = "x" + std::to_string(code);
    Process& process =
        start_run(name, {"--ttl", "30s"},
                  "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done; exit " + std::to_string(code));
    pid_in("pid");
    Process blocker({"sh", "-c",
                     "(echo '.timeout 5000'; echo 'BEGIN EXCLUSIVE;'; echo \".shell touch '$1'\"; exec sleep 60) | "
                     "exec sqlite3 \"$0\"",
                     folder / "locks.db", folder / "go"});
    const Finished finished = process.finish();
    EXPECT_EQ(finished.code, code);
    EXPECT_THAT(finished.errors, HasSubstr("the store did not confirm that '" + name + "' was released"));
    ::kill(-blocker.pid(), SIGKILL);
  }
}

TEST_F(Lost, LockIsNoticedAtTheLatestWhenItIsGivenBack) {
  // The lease is long, so that no renewal tells the tool.
  Process& process = start_run("x", {"--ttl", "1h"}, "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done");
  pid_in("pid");
  Client(url).evict("x");
  run({"touch", folder / "go"});
  EXPECT_EQ(process.finish().code, 79);
}

}  // namespace
}  // namespace holdfast::test
