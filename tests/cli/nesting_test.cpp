// `run` inside a command that runs under the same lock.
#include "cli/run/nesting.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "cli/run/process_table.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(OuterHolds, AreAListWithoutRepetitions) {
  const cli::Grant first = {.token = 7, .holder = "aa"};
  const cli::Grant second = {.token = 9, .holder = "bb"};
  EXPECT_EQ(cli::with_hold("", first), "aa:7");
  EXPECT_EQ(cli::with_hold("aa:7", second), "aa:7 bb:9");
  EXPECT_EQ(cli::with_hold("aa:7 bb:9", first), "aa:7 bb:9");
}

/// A lock that somebody holds.
LockStatus held_by(const std::string& id, pid_t pid) {
  return {.name = "x", .holders = {{.client = {.id = id, .pid = pid}, .mode = ClaimMode::shared}}};
}

TEST(OuterHolds, CountOnlyWithALivingAncestor) {
  const auto found = cli::ancestors_hold(held_by("aa", ::getppid()), "bb:9 aa:7");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->grant.token, 7U);
  EXPECT_EQ(found->mode, ClaimMode::shared);
  EXPECT_FALSE(cli::ancestors_hold(held_by("aa", ::getpid()), "aa:7")) << "nobody is their own ancestor";
  EXPECT_FALSE(cli::ancestors_hold(held_by("aa", 0), "aa:7"));
  EXPECT_FALSE(cli::ancestors_hold(held_by("cc", ::getppid()), "aa:7")) << "a stranger whose pid is the same";
  EXPECT_FALSE(cli::ancestors_hold({.name = "x"}, "aa:7")) << "nobody holds it";
}

TEST(OuterHolds, MayBeNonsense) {
  for (const char* nonsense : {"", " ", ":", "aa", "aa:", "aa:x", "::::"}) {
    EXPECT_FALSE(cli::ancestors_hold(held_by("aa", ::getppid()), nonsense)) << nonsense;
  }
}

TEST(Ancestors, AreParentsOfParents) {
  EXPECT_TRUE(cli::is_ancestor(::getppid()));
  EXPECT_FALSE(cli::is_ancestor(::getpid()));
  EXPECT_FALSE(cli::is_ancestor(0));
  EXPECT_FALSE(cli::is_ancestor(-1));
}

class Nested : public World {
 protected:
  const std::string inner = tool({}).front() + " run ";
};

TEST_F(Nested, RunsAtOnce) {
  const Finished finished = run_script("x", {}, inner + "x -- sh -c 'echo inside; exit 9'");
  EXPECT_EQ(finished.output, "inside\n");
  EXPECT_EQ(finished.code, 9);
}

TEST_F(Nested, ControlWithoutTheEnvironmentItWouldWaitForItself) {
  EXPECT_EQ(run_script("x", {}, "unset HOLDFAST_OUTER; " + inner + "x --try -- echo inside").code, 75);
}

TEST_F(Nested, SeesTheSameLock) {
  const std::string print = "echo $HOLDFAST_LOCK $HOLDFAST_TOKEN $HOLDFAST_HOLDER";
  const Finished finished = run_script("x", {}, print + "; " + inner + "x -- sh -c '" + print + "'");
  const std::size_t middle = finished.output.size() / 2;
  EXPECT_EQ(finished.output.substr(0, middle), finished.output.substr(middle));
}

TEST_F(Nested, HasTheSignalsOfItsParent) {
  const std::string print = "grep Sig[BI] /proc/self/status";
  const Finished finished = run_script("x", {}, print + "; " + inner + "x -- " + print);
  const std::size_t middle = finished.output.size() / 2;
  EXPECT_THAT(finished.output, HasSubstr("SigBlk"));
  EXPECT_EQ(finished.output.substr(0, middle), finished.output.substr(middle));
}

TEST_F(Nested, WorksThroughAnotherLock) {
  const Finished finished =
      run_script("x", {}, inner + "y -- " + inner + "x -- " + inner + "y -- sh -c 'echo $HOLDFAST_LOCK'");
  EXPECT_EQ(finished.output, "y\n");
}

TEST_F(Nested, SharedWorksInsideBoth) {
  EXPECT_EQ(run_script("x", {}, inner + "x --shared -- echo inside").output, "inside\n");
  EXPECT_EQ(run_script("x", {"--shared"}, inner + "x --shared -- echo inside").output, "inside\n");
}

TEST_F(Nested, ExclusiveInsideSharedIsRefused) {
  const Finished finished = run_script("x", {"--shared"}, inner + "x -- echo inside");
  EXPECT_EQ(finished.code, 64);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, HasSubstr("it would have to wait for itself"));
}

TEST_F(Nested, OncePerIsRefused) {
  const Finished finished = run_script("x", {}, inner + "x --once-per 1h -- echo inside");
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr("--once-per cannot work"));
}

TEST_F(Nested, PermitsAreAnotherThing) {
  EXPECT_EQ(run_script("x", {"--permits", "1/2"}, inner + "x --permits 1/2 --try -- echo inside").output, "inside\n");
  EXPECT_EQ(run_script("x", {"--permits", "1/1"}, inner + "x --permits 1/1 --try -- echo inside").code, 75);
}

TEST_F(Nested, CommandThatCannotBeRunIsReported) {
  EXPECT_EQ(run_script("x", {}, inner + "x -- no-such-command").code, 127);
}

TEST_F(Nested, WaitsWhenTheOuterLockWasLost) {
  Process& outer = start_run(
      "x", {"--on-lost", "warn"},
      "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done; " + inner + "x --try -- echo inside; echo $?");
  pid_in("pid");
  Client client(url);
  ASSERT_TRUE(client.evict("x"));
  const Hold hold = Mutex(client, "x").acquire();
  run({"touch", folder / "go"});
  EXPECT_EQ(outer.finish().output, "75\n");
}

TEST_F(Nested, DiesWithTheOuterLock) {
  Process& outer = start_run("x", {}, inner + "x -- sh -c 'echo $$ >$dir/pid; sleep 60'");
  pid_in("pid");
  ASSERT_TRUE(Client(url).evict("x"));
  EXPECT_EQ(outer.finish().code, 79);
  EXPECT_TRUE(all_end({"pid"}));
}

}  // namespace
}  // namespace holdfast::test
