// Whoever is killed, nobody goes on working without the lock.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A command with a child, and a grandchild that has left its parent, its group and its session.
constexpr auto family_script =
    "sleep 60 & echo $! >$dir/child\n"
    "(setsid sh -c 'echo $$ >'$dir'/stray; exec sleep 60' &)\n"
    "echo $$ >$dir/command\n"
    "wait";

class Guarded : public World {
 protected:
  /// A tool that runs family_script, once all of the family are there.
  Process& start_family(const std::vector<std::string>& flags = {}) {
    Process& process = start_run("x", flags, family_script);
    for (const char* file : {"child", "stray", "command"}) pid_in(file);
    return process;
  }
  static pid_t guardian_of(const Process& process) { return children_of(process.pid()).at(0); }
};

TEST_F(Guarded, FamilyDiesWithTheTool) {
  Process& process = start_family();
  const pid_t guardian = guardian_of(process);
  process.signal(SIGKILL);
  EXPECT_EQ(process.finish().code, 1000 + SIGKILL);
  EXPECT_TRUE(all_end({"command", "child", "stray"}));
  EXPECT_TRUE(eventually([&] { return !alive(guardian); }));
}

TEST_F(Guarded, ControlAFamilyWithoutAGuardianLivesOn) {
  Process process({"sh", "-c", "dir='" + folder.string() + "'\n" + family_script});
  const pid_t child = pid_in("child");
  const pid_t stray = pid_in("stray");
  pid_in("command");
  process.signal(SIGKILL);
  EXPECT_EQ(process.finish().code, 1000 + SIGKILL);
  EXPECT_FALSE(eventually(300ms, [&] { return !alive(child) || !alive(stray); }));
}

TEST_F(Guarded, FamilyDiesWithTheGuardian) {
  Process& process = start_family();
  ::kill(guardian_of(process), SIGKILL);
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 70);
  EXPECT_THAT(finished.errors, HasSubstr("guardian process was killed"));
  EXPECT_TRUE(all_end({"command", "child", "stray"}));
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Guarded, CommandThatIsKilledIsReported) {
  Process& process = start_run("x", {}, "echo $$ >$dir/pid; exec sleep 60");
  ::kill(pid_in("pid"), SIGKILL);
  EXPECT_EQ(process.finish().code, 128 + SIGKILL);
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Guarded, GrandchildThatIsKilledChangesNothing) {
  Process& process = start_run("x", {}, "sleep 60 & echo $! >$dir/child; wait; echo survived");
  ::kill(pid_in("child"), SIGKILL);
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output, "survived\n");
}

TEST_F(Guarded, CommandDiesWhenToolAndGuardianAreKilledTogether) {
  // Nobody is left to find its descendants, but the kernel ends at least the command itself.
  Process& process = start_run("x", {}, "echo $$ >$dir/pid; exec sleep 60");
  pid_in("pid");
  const pid_t guardian = guardian_of(process);
  process.signal(SIGSTOP);
  ::kill(guardian, SIGKILL);
  process.signal(SIGKILL);
  EXPECT_TRUE(all_end({"pid"}));
}

TEST_F(Guarded, ManyDescendantsThatIgnoreSignalsAllDie) {
  Process& process = start_run("x", {},
                               "trap '' TERM INT HUP\n"
                               "for i in 1 2 3 4 5 6 7 8; do (trap '' TERM; (setsid sleep 60 &) ; sleep 60) & done\n"
                               "echo $$ >$dir/pid\n"
                               "wait");
  pid_in("pid");
  const pid_t guardian = guardian_of(process);
  process.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(guardian); })) << "it ends when it has no descendants left";
  EXPECT_TRUE(all_end({"pid"}));
}

TEST_F(Guarded, CommandOfAnotherUserDoesNotKeepTheLock) {
  ASSERT_EQ(::geteuid(), 0U) << "only root can make a program that becomes root";
  const TemporaryDirectory elsewhere;  // a file system in memory may refuse such programs
  std::filesystem::permissions(elsewhere.path(), std::filesystem::perms::all);
  const auto become_root = elsewhere.path() / "become-root";
  std::filesystem::copy_file("/usr/bin/setpriv", become_root);
  ASSERT_EQ(::chmod(become_root.c_str(), S_ISUID | 0755), 0);
  ASSERT_EQ(::chown(folder.c_str(), 54321, 54321), 0);
  const std::string script =
      "'" + become_root.string() + "' --reuid=0 sh -c 'echo $$ >" + folder.string() + "/pid; sleep 60'";
  Process& process =
      start({"setpriv", "--reuid=54321", "--clear-groups", tool({}).front(), "run", "x", "--", "sh", "-c", script});
  pid_in("pid");
  ASSERT_EQ(
      run({"setpriv", "--reuid=54321", "--clear-groups", tool({}).front(), "break", "x", "--yes"}, with_store()).code,
      0);
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 79);
  EXPECT_THAT(finished.errors, HasSubstr("runs as another user and cannot be stopped from here"));
}

/// A command whose first thread has ended looks like a zombie, and works on.
class Leaderless : public World {
 protected:
  Process& start_leaderless(const std::vector<std::string>& flags) {
    std::vector<std::string> words = tool({"run", "x"});
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back("--");
    for (const std::string& word : leaderless(folder / "pid")) words.push_back(word);
    Process& process = start(words);
    EXPECT_TRUE(eventually([&] { return state_of(pid_in("pid")) == 'Z'; }));
    EXPECT_TRUE(alive(pid_in("pid")));
    return process;
  }
};

TEST_F(Leaderless, CommandDiesWithTheTool) {
  start_leaderless({}).signal(SIGKILL);
  EXPECT_TRUE(all_end({"pid"}));
}

TEST_F(Leaderless, CommandDiesWithTheGuardian) {
  Process& process = start_leaderless({});
  ::kill(children_of(process.pid()).at(0), SIGKILL);
  EXPECT_EQ(process.finish().code, 70);
  EXPECT_FALSE(alive(pid_in("pid")));
}

TEST_F(Leaderless, CommandOfAStoppedToolIsDeadBeforeTheNextHolderStarts) {
  Process& process = start_leaderless({"--ttl", "1s"});
  const pid_t command = pid_in("pid");
  process.signal(SIGSTOP);
  const std::string look = "ls /proc/" + std::to_string(command) + "/task 2>/dev/null | wc -l";
  EXPECT_EQ(run_script("x", {}, look).output, "0\n");
  process.signal(SIGCONT);
  EXPECT_EQ(process.finish().code, 79);
}

TEST_F(Leaderless, CommandDiesWhenTheLockIsBroken) {
  Process& process = start_leaderless({});
  EXPECT_TRUE(Client(url).evict("x"));
  EXPECT_EQ(process.finish().code, 79);
  EXPECT_FALSE(alive(pid_in("pid")));
}

TEST_F(Guarded, FamilyDiesInTimeAlthoughTheGuardianIsStopped) {
  // The tool does what the guardian should have done.
  Process& process = start_family({"--ttl", "1s"});
  ::kill(guardian_of(process), SIGSTOP);
  ASSERT_TRUE(Client(url).evict("x"));
  EXPECT_EQ(process.finish().code, 79);
  for (const char* file : {"command", "child", "stray"}) EXPECT_FALSE(alive(pid_in(file))) << file;
}

TEST_F(Guarded, GuardianDoesNotListenToSignals) {
  Process& process = start_run("x", {}, "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done; exit 3");
  pid_in("pid");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGPIPE}) ::kill(guardian_of(process), signal);
  run({"touch", folder / "go"});
  EXPECT_EQ(process.finish().code, 3);
}

}  // namespace
}  // namespace holdfast::test
