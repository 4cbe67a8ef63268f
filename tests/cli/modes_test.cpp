// `run` with something else than an exclusive lock, and `elect`.
#include <gmock/gmock.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Modes : public World {};

TEST_F(Modes, SharedRunsShareTheLock) {
  Process& reader = start_run("x", {"--shared"}, "echo $$ >$dir/pid; read line <$dir/never || sleep 60");
  pid_in("pid");
  EXPECT_EQ(run_script("x", {"--shared", "--try"}, "echo read").output, "read\n");
  EXPECT_EQ(run_script("x", {"--try"}, "echo wrote").code, 75);
  EXPECT_EQ(Client(url).show("x")->holders.front().mode, ClaimMode::shared);
  reader.signal(SIGTERM);
  EXPECT_EQ(reader.finish().code, 143);
  EXPECT_EQ(run_script("x", {"--try"}, "echo wrote").output, "wrote\n");
}

TEST_F(Modes, SharedRunsWaitForAWriter) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  EXPECT_EQ(run_script("x", {"--shared", "--try"}, "echo read").code, 75);
}

TEST_F(Modes, PermitsAreCounted) {
  Client client(url);
  const Hold two = Semaphore(client, "x", 3).acquire(2);
  EXPECT_EQ(run_script("x", {"--permits", "2/3", "--try"}, "true").code, 75);
  EXPECT_EQ(run_script("x", {"--permits", "1/3", "--try"}, "echo one").output, "one\n");
  EXPECT_EQ(run_script("x", {"--try"}, "echo lock").output, "lock\n") << "a lock of that name is another thing";
}

TEST_F(Modes, PermitsOfAnotherTotalAreRefused) {
  Client client(url);
  const Hold one = Semaphore(client, "x", 3).acquire();
  const Finished finished = run_script("x", {"--permits", "1/4"}, "true");
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr("3"));
}

TEST_F(Modes, PermitsMustMakeSense) {
  for (const char* wrong : {"1", "0/3", "4/3", "1/0", "a/3", "1/3x", "-1/3", "1/9999999", ""}) {
    const Finished finished = run_script("x", {"--permits", wrong}, "true");
    EXPECT_EQ(finished.code, 64) << wrong;
    EXPECT_THAT(finished.errors, HasSubstr("--permits")) << wrong;
  }
}

TEST_F(Modes, FlagsThatContradictEachOtherAreRefused) {
  const auto refused = [&](std::vector<std::string> flags, const std::string& text) {
    const Finished finished = run_script("x", flags, "echo ran");
    EXPECT_EQ(finished.code, 64) << testing::PrintToString(flags);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr(text));
  };
  refused({"--shared", "--permits", "1/2"}, "--permits");
  refused({"--shared", "--once-per", "1h"}, "--shared");
  refused({"--permits", "1/2", "--once-per", "1h"}, "--permits");
  refused({"--once-per", "0s"}, "--once-per");
  refused({"--min-hold", "3s", "--max-hold", "2s"}, "--min-hold must not be longer than --max-hold");
  refused({"--max-hold", "500ms"}, "--max-hold");
  refused({"--on-lost", "ignore"}, "--on-lost: 'ignore' is not one of kill, warn");
  refused({"--busy-exit", "256"}, "--busy-exit: '256' is not a whole number from 0 to 255");
  refused({"--busy-exit", "x"}, "--busy-exit");
  refused({"--grace", "5"}, "--grace");
}

TEST_F(Modes, BusyMayHaveAnotherExitCode) {
  Client client(url);
  const Hold hold = Mutex(client, "x").acquire();
  EXPECT_EQ(run_script("x", {"--try", "--busy-exit", "0"}, "echo ran").code, 0);
  EXPECT_EQ(run_script("x", {"--wait", "150ms", "--busy-exit", "99"}, "echo ran").code, 99);
}

class Elected : public World {
 protected:
  Process& start_elect(const std::vector<std::string>& flags, const std::string& script) {
    return start(subcommand("elect", "x", flags, script));
  }
};

TEST_F(Elected, CommandRunsWhileItLeads) {
  Process& first = start_elect({"--value", "one"}, "echo $HOLDFAST_TOKEN >$dir/term; echo $$ >$dir/pid; sleep 60");
  pid_in("pid");
  Client client(url);
  Election election(client, "x");
  ASSERT_TRUE(election.leader());
  EXPECT_EQ(election.leader()->value, "one");
  EXPECT_EQ(to_string(election.leader()->term) + "\n", content("term"));

  Process& second = start_elect({"--value", "two"}, "echo $HOLDFAST_TOKEN; echo $$ >$dir/second; sleep 60");
  ASSERT_TRUE(eventually([&] { return client.show("x", LockKind::election)->waiters.size() == 1; }));
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish().code, 143);
  pid_in("second");
  EXPECT_EQ(election.leader()->value, "two");
  EXPECT_GT(std::stoull(second.output()), std::stoull(content("term")));
}

TEST_F(Elected, ResignsWhenTheCommandEnds) {
  EXPECT_EQ(start_elect({}, "exit 7").finish().code, 7);
  Client client(url);
  EXPECT_FALSE(client.show("x", LockKind::election));
}

TEST_F(Elected, TriesOnce) {
  Client client(url);
  Election election(client, "x");
  election.campaign("somebody");
  EXPECT_EQ(start_elect({"--try"}, "echo ran").finish().code, 75);
  EXPECT_EQ(start_elect({"--wait", "200ms", "--busy-exit", "3"}, "echo ran").finish().code, 3);
}

TEST_F(Elected, PublishesTheHostByDefault) {
  start_elect({}, "echo $$ >$dir/pid; sleep 60");
  pid_in("pid");
  Client client(url);
  EXPECT_EQ(Election(client, "x").leader()->value, client.identity().host);
}

TEST_F(Elected, CommandOfALeaderThatIsEvictedEnds) {
  Process& leader = start_elect({}, "echo $$ >$dir/pid; sleep 60");
  pid_in("pid");
  Client client(url);
  ASSERT_TRUE(client.evict("x", LockKind::election));
  EXPECT_EQ(leader.finish().code, 79);
  EXPECT_TRUE(all_end({"pid"}));
}

}  // namespace
}  // namespace holdfast::test
