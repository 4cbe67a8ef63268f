// `run --once-per`: a job that succeeds once per period.
#include <gmock/gmock.h>
#include <signal.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/once.hpp"
#include "support/proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class OncePer : public World {
 protected:
  Finished run_job(const std::string& script, const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags{"--once-per", "1h"};
    flags.insert(flags.end(), more.begin(), more.end());
    return run_script("job", flags, script);
  }
};

TEST_F(OncePer, SkipsWhatWasDone) {
  EXPECT_EQ(run_job("echo sent").output, "sent\n");
  const Finished second = run_job("echo sent");
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.output, "");
  EXPECT_THAT(second.errors, HasSubstr("skipped 'job': it was done "));
  EXPECT_THAT(second.errors, HasSubstr(" ago on "));
}

TEST_F(OncePer, RunsAgainInTheNextPeriod) {
  EXPECT_EQ(run_script("job", {"--once-per", "5s"}, "echo sent").output, "sent\n");
  EXPECT_EQ(run_script("job", {"--once-per", "5s"}, "echo sent").output, "");
  EXPECT_TRUE(eventually([&] { return run_script("job", {"--once-per", "5s"}, "echo sent").output == "sent\n"; }));
}

/// The period ends while the second run asks whether there is something to do: the way to the store is long, and each
/// question takes 0.6 s. It may find that there is, or that there is not; but nobody is in its way.
TEST_F(OncePer, IsNotBusyAtThePeriodsEdge) {
  const RedisServer server;
  Proxy slow(server.port());
  slow.delay(300ms);
  const auto at = [](const std::string& address) {
    return run(tool({"run", "job", "--once-per", "2333ms", "--", "echo", "sent"}),
               {.environment = {"HOLDFAST_URL=redis://" + address}});
  };
  EXPECT_EQ(at("127.0.0.1:" + server.port()).output, "sent\n");
  const Finished second = at(slow.address());
  EXPECT_EQ(second.code, 0) << second.errors;
}

TEST_F(OncePer, RetriesAFailure) {
  EXPECT_EQ(run_job("exit 3").code, 3);
  EXPECT_EQ(run_job("kill -9 $$").code, 137);
  EXPECT_EQ(run(tool({"run", "job", "--once-per", "1h", "--", "no-such-command"}), with_store()).code, 127);
  EXPECT_EQ(run_job("echo sent").output, "sent\n");
}

TEST_F(OncePer, RetriesWhatWasKilled) {
  Process& killed = start_run("job", {"--once-per", "1h"}, "echo $$ >$dir/pid; sleep 60");
  pid_in("pid");
  killed.signal(SIGKILL);
  EXPECT_EQ(run_job("echo sent").output, "sent\n");
}

TEST_F(OncePer, OfManyHostsOneDoesIt) {
  std::vector<Process*> hosts;
  for (int host = 0; host < 6; ++host) hosts.push_back(&start_run("job", {"--once-per", "1h"}, "echo sent >>$dir/sms"));
  for (Process* host : hosts) EXPECT_EQ(host->finish().code, 0);
  EXPECT_EQ(content("sms"), "sent\n");
}

TEST_F(OncePer, WaitsForARunThatMayFail) {
  Process& first =
      start_run("job", {"--once-per", "1h"}, "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done; exit 1");
  pid_in("pid");
  Process& second = start_run("job", {"--once-per", "1h"}, "echo sent");
  ASSERT_TRUE(gets_a_waiter("job"));
  run({"touch", folder / "go"});
  EXPECT_EQ(first.finish().code, 1);
  EXPECT_EQ(second.finish().output, "sent\n");
}

TEST_F(OncePer, IsBusyWhileAnotherRuns) {
  start_run("job", {"--once-per", "1h"}, "echo $$ >$dir/pid; sleep 60");
  pid_in("pid");
  EXPECT_EQ(run_job("echo sent", {"--try"}).code, 75);
  EXPECT_EQ(run_job("echo sent", {"--wait", "200ms"}).code, 75);
}

TEST_F(OncePer, RemembersASuccessWhileTheLockIsStillKept) {
  Process& first = start_run("job", {"--once-per", "1h", "--min-hold", "60s"}, "true");
  Client client(url);
  Once job(client, "job", 1h);
  ASSERT_TRUE(eventually([&] { return job.last_run().has_value(); }));
  first.signal(SIGKILL);
  EXPECT_THAT(run_job("echo sent").errors, HasSubstr("skipped"));
}

TEST_F(OncePer, DoesNotRememberARunThatLostItsLock) {
  Process& first = start_run("job", {"--once-per", "1h", "--on-lost", "warn"},
                             "echo $$ >$dir/pid; while [ ! -e $dir/go ]; do sleep 0.02; done");
  pid_in("pid");
  Client client(url);
  ASSERT_TRUE(client.evict("job"));
  ASSERT_TRUE(eventually([&] { return first.errors().find("was lost") != std::string::npos; }));
  run({"touch", folder / "go"});
  EXPECT_EQ(first.finish().code, 79);
  EXPECT_EQ(run_job("echo sent").output, "sent\n");
}

TEST_F(OncePer, SuccessThatCannotBeWrittenDownIs69) {
  // The command leaves somebody behind who keeps the store's file from being written for longer than the lease.
  const Finished finished = run_script("job", {"--once-per", "1h", "--ttl", "1s"},
                                       "{ echo 'BEGIN IMMEDIATE;'; echo \".shell touch $dir/begun\"; sleep 4; } |"
                                       " sqlite3 $dir/locks.db >/dev/null 2>&1 & echo $! >$dir/pid\n"
                                       "while [ ! -e $dir/begun ]; do sleep 0.02; done");
  EXPECT_EQ(finished.code, 69);
  EXPECT_THAT(finished.errors, HasSubstr("successful, but its success could not be recorded"));
  pid_in("pid");
}

}  // namespace
}  // namespace holdfast::test
