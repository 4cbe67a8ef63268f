#include <gmock/gmock.h>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/semaphore.hpp"
#include "support/background.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Break : public World {
 protected:
  Finished break_lock(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "break");
    return run(tool(std::move(arguments)), with_store());
  }

  Client client{url, {.label = "tester"}};
};

TEST_F(Break, EndsTheCommandAndGivesTheLockToTheFirstInLine) {
  Process& first = start_run("job", {}, "echo $HOLDFAST_TOKEN >$dir/token; echo $$ >$dir/first; exec sleep 60");
  pid_in("first");
  Background second([&](std::stop_token stop) { return Mutex(client, "job").acquire(std::move(stop)); });
  ASSERT_TRUE(gets_a_waiter("job"));
  Client another(url);
  Background third([&](std::stop_token stop) { return Mutex(another, "job").acquire(std::move(stop)); });
  ASSERT_TRUE(eventually([&] { return client.show("job")->waiters.size() == 2; }));

  const Finished finished = break_lock({"job", "--yes"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  const std::string token = content("token").substr(0, content("token").find('\n'));
  EXPECT_THAT(finished.output, AllOf(StartsWith("took the lock 'job' (token " + token + ") from "), HasSubstr("(sh)")));

  Hold next = second.take();
  EXPECT_GT(next.token().value(), std::stoull(token));
  EXPECT_EQ(client.show("job")->waiters.size(), 1U) << "who came later waits still";
  next.release();
  EXPECT_GT(third.take().token(), next.token());
  const Finished lost = first.finish();
  EXPECT_EQ(lost.code, 79) << lost.errors;
  EXPECT_TRUE(all_end({"first"}));
}

TEST_F(Break, ChangesNothingWithoutYes) {
  const Hold hold = Mutex(client, "job").acquire();
  const Finished finished = break_lock({"job"});
  EXPECT_EQ(finished.code, 64);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, AllOf(HasSubstr("(tester) would lose the lock 'job' (token " + to_string(hold.token())),
                                     HasSubstr("--yes")));
  EXPECT_EQ(client.show("job")->holders.size(), 1U);
  EXPECT_TRUE(hold.valid());

  EXPECT_EQ(break_lock({"job", "--yes"}).code, 0) << "and with it, does";
  EXPECT_TRUE(eventually([&] { return !hold.valid(); })) << "the holder is told";
}

TEST_F(Break, SaysThatNobodyHoldsIt) {
  for (const auto& flags : {std::vector<std::string>{"job"}, {"job", "--yes"}, {"job", "--yes", "--ask", "1s"}}) {
    const Finished finished = break_lock(flags);
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.output, "nobody holds 'job'\n");
  }
  EXPECT_EQ(break_lock({"job", "--kind", "election"}).output, "nobody holds the election 'job'\n");
}

TEST_F(Break, WantsToKnowWhichOfSeveralThings) {
  const Hold lock = Mutex(client, "job").acquire();
  const Hold permits = Semaphore(client, "job", 5).acquire(2);
  Election election(client, "job");
  election.campaign("me");

  const Finished finished = break_lock({"job", "--yes"});
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr("--kind lock, --kind semaphore, --kind election"));
  EXPECT_TRUE(lock.valid() && permits.valid() && election.leads());

  EXPECT_THAT(break_lock({"job", "--yes", "--kind", "semaphore"}).output,
              StartsWith("took 2 permits of the semaphore 'job' (token "));
  EXPECT_TRUE(eventually([&] { return !permits.valid(); }));
  EXPECT_TRUE(lock.valid() && election.leads());
  EXPECT_THAT(break_lock({"job", "--yes", "--kind", "election"}).output,
              StartsWith("took the leadership of 'job' (token "));
  EXPECT_TRUE(eventually([&] { return !election.leads(); }));
  EXPECT_TRUE(lock.valid());

  EXPECT_EQ(break_lock({"job", "--kind", "mutex"}).code, 64);
}

TEST_F(Break, FindsTheOnlyThingOfThatName) {
  const Hold permits = Semaphore(client, "job", 5).acquire();
  EXPECT_THAT(break_lock({"job", "--yes"}).output, StartsWith("took 1 permit of the semaphore 'job' "));
}

TEST_F(Break, AsksFirst) {
  Hold hold = Mutex(client, "job").acquire();
  hold.on_release_request([&](const ReleaseRequest& request) {
    if (request.reason == "noon") hold.release();
  });
  const Finished finished = break_lock({"job", "--yes", "--ask", "1h", "--reason", "noon"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("(tester) has released the lock 'job' "));
  EXPECT_THAT(finished.errors, HasSubstr("to release the lock 'job'"));
  EXPECT_EQ(hold.state(), HoldState::released);
}

TEST_F(Break, TakesItFromAHolderThatWasAskedInVain) {
  const Hold hold = Mutex(client, "job").acquire();
  const Finished finished = break_lock({"job", "--yes", "--ask", "50ms"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, AllOf(StartsWith("took the lock 'job' "), Not(HasSubstr("unless"))));
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
}

TEST_F(Break, TakesAReasonOnlyForThoseWhoAreAsked) {
  const Hold hold = Mutex(client, "job").acquire();
  const Finished finished = break_lock({"job", "--yes", "--reason", "noon"});
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr("--ask"));
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(client.show("job")->holders.size(), 1U);
}

}  // namespace
}  // namespace holdfast::test
