// A job that is done once per period.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::system_clock;
using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;

constexpr milliseconds long_period = 10min;

void nothing(const Hold&) {}

// OP1
TEST_P(OnceConformance, OfManyThreadsExactlyOneDoesTheJob) {
  Client clients[] = {open(), open(), open()};
  for (Client& client : clients) Register(client, "contact").get();
  std::atomic<int> done = 0;
  std::atomic<int> answers = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 9; ++number) {
      threads.emplace_back([&, number] {
        Once once(clients[number % 3], "hourly", long_period);
        if (once.run([&](const Hold& hold) {
              EXPECT_TRUE(hold.valid());
              ++done;
            }))
          ++answers;
      });
    }
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(answers, 1);
}

// OP1
TEST_P(SharedStoreConformance, OfManyProcessesExactlyOneDoesTheJob) {
  std::vector<ForkedChild> children;
  for (int number = 0; number < 6; ++number) {
    children.emplace_back([&, number](ChildReport&) {
      Client client(url());
      const auto note = [&](const std::string& what) {
        test::answered([&] { Register(client, what + std::to_string(number)).set("yes"); });
      };
      note("ready");
      Register(client, "go").wait_for_change(0);
      Once(client, "hourly", long_period).run([&](const Hold&) { note("done"); });
    });
  }
  Client client = open();
  const auto noted = [&](const std::string& what) {
    int count = 0;
    for (int number = 0; number < 6; ++number) {
      Register note(client, what + std::to_string(number));
      count += test::answered([&] { return note.get(); }).version > 0 ? 1 : 0;
    }
    return count;
  };
  ASSERT_TRUE(eventually([&] { return noted("ready") == 6; }));
  test::answered([&] { Register(client, "go").set("now"); });
  for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
  EXPECT_EQ(noted("done"), 1);
}

TEST_P(OnceConformance, ASuccessIsRememberedForThePeriod) {
  Client client = open();
  Client other = open();
  EXPECT_TRUE(Once(client, "hourly", long_period).run(nothing));
  for (Client* later : {&client, &other}) {
    Once once(*later, "hourly", long_period);
    EXPECT_FALSE(once.run(nothing));
    EXPECT_FALSE(once.begin());
    EXPECT_FALSE(once.try_begin());
  }
  EXPECT_TRUE(Once(other, "another", long_period).try_begin());
  EXPECT_TRUE(becomes_free(client, "hourly"));
}

// OP9
TEST_P(OnceConformance, AJobThatFailedMayBeTriedAgainAtOnce) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  Once elsewhere(other, "hourly", long_period);
  EXPECT_THROW(once.run([](const Hold&) { throw std::runtime_error("failed"); }), std::runtime_error);
  EXPECT_FALSE(elsewhere.last_run());
  {
    const auto destroyed = elsewhere.begin();
  }
  auto run = once.begin();
  ASSERT_TRUE(run);
  run->fail();
  EXPECT_FALSE(*run);
  EXPECT_EQ(errc_of([&] { run->succeed(); }), Errc::not_held);
  EXPECT_FALSE(once.last_run());
  EXPECT_TRUE(elsewhere.run(nothing));
  EXPECT_FALSE(once.run(nothing));
}

// OP9, OP3
TEST_P(SharedStoreConformance, AJobWhoseProcessWasKilledIsTriedAgain) {
  ForkedChild runner([&](ChildReport& report) {
    Client client(url());
    Once once(client, "hourly", long_period, {.lock = {.ttl = short_ttl()}});
    const auto run = once.begin();
    Register(client, "begun").set("yes");
    report.wait_to_be_killed();
  });
  Client client = open();
  ASSERT_TRUE(Register(client, "begun").wait_for_change_for(0, test::patience));
  Once once(client, "hourly", long_period);
  EXPECT_FALSE(once.try_begin());
  runner.kill();
  auto run = once.begin();
  ASSERT_TRUE(run);
  EXPECT_FALSE(once.last_run()) << "it did not succeed";
  run->succeed();
  EXPECT_TRUE(once.last_run());
}

// OP4: the slack is a tenth of the period.
TEST_P(OnceConformance, FiresAgainInTheNextPeriod) {
  constexpr milliseconds period = 1s;
  Client client = open();
  Once once(client, "often", period);
  Register(client, "contact").get();
  auto first = once.begin();
  ASSERT_TRUE(first);
  const auto started = first->started();
  first->succeed();
  EXPECT_FALSE(Once(client, "often", long_period).try_begin()) << "for a longer period it is still too early";
  std::optional<holdfast::Run> second;
  ASSERT_TRUE(eventually([&] { return (second = once.try_begin()).has_value(); }));
  EXPECT_GE(second->started(), started + period - period / 10 - 2ms);
  second->succeed();
  EXPECT_FALSE(once.try_begin());
  EXPECT_GE(once.last_run().value().started, started + 898ms);
}

// OP2
TEST_P(OnceConformance, AtLeastKeepsItClosedEvenAfterAFailure) {
  Client client = open();
  Client other = open();
  Once once(client, "guarded", 100ms, {.at_least = 2s});
  Once elsewhere(other, "guarded", 100ms, {.at_least = 2s});
  auto run = once.begin();
  ASSERT_TRUE(run);
  const auto started = run->started();
  run->fail();
  EXPECT_TRUE(becomes_free(other, "guarded"));
  EXPECT_FALSE(elsewhere.try_begin());
  EXPECT_FALSE(elsewhere.begin());
  EXPECT_FALSE(once.run(nothing));
  std::optional<holdfast::Run> next;
  ASSERT_TRUE(eventually([&] { return (next = elsewhere.try_begin()).has_value(); }));
  EXPECT_GE(next->started(), started + 2s - 2ms);
  EXPECT_FALSE(once.last_run());
}

// OP3, OP6
TEST_P(OnceConformance, ARunThatTakesLongerThanAtMostLosesItsLock) {
  Client client = open();
  Client other = open();
  Once once(client, "limited", long_period, {.at_most = 500ms});
  Once elsewhere(other, "limited", long_period);
  auto slow = once.begin();
  ASSERT_TRUE(slow);
  const std::stop_token lost = slow->hold().stop_token();
  const Token token = slow->hold().token();
  auto next = elsewhere.begin();
  ASSERT_TRUE(next);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(slow->hold().valid());
  EXPECT_GT(next->hold().token(), token) << "the resource can tell the two apart";
  EXPECT_EQ(errc_of([&] { slow->succeed(); }), Errc::lost);
  EXPECT_FALSE(elsewhere.last_run());
  next->succeed(3);
  EXPECT_EQ(once.last_run().value().result, 3);
}

TEST_P(OnceConformance, AnEvictedRunDoesNotSucceed) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  auto run = once.begin();
  ASSERT_TRUE(run);
  ASSERT_TRUE(other.evict("hourly"));
  EXPECT_TRUE(Once(other, "hourly", long_period).run(nothing));
  const Token token = once.last_run().value().token;
  EXPECT_EQ(errc_of([&] { run->succeed(); }), Errc::lost);
  EXPECT_EQ(once.last_run().value().token, token);
}

// OP10
TEST_P(OnceConformance, TheLastRunCanBeRead) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  EXPECT_FALSE(once.last_run());
  const auto before = system_clock::now();
  auto run = once.begin();
  ASSERT_TRUE(run);
  const auto started = run->started();
  const Token token = run->hold().token();
  run->succeed(-17);
  const auto after = system_clock::now();
  const LastRun last = Once(other, "hourly", long_period).last_run().value();
  EXPECT_EQ(std::chrono::floor<milliseconds>(last.started), std::chrono::floor<milliseconds>(started));
  EXPECT_GE(last.started, before - 1s);  // the store's clock may be another
  EXPECT_LE(last.started, last.ended);
  EXPECT_LE(last.ended, after + 1s);
  EXPECT_EQ(last.result, -17);
  EXPECT_EQ(last.token, token);
  EXPECT_EQ(last.host, client.identity().host);
}

// OP5, as far as one clock shows it
TEST_P(OnceConformance, TheRememberedStartNeverGoesBack) {
  Client clients[] = {open(), open()};
  system_clock::time_point last_start = {};
  Token last_token;
  for (int round = 0; round < 10; ++round) {
    Once once(clients[round % 2], "quick", 1ms);
    std::optional<holdfast::Run> run;
    ASSERT_TRUE(eventually([&] { return (run = once.try_begin()).has_value(); }));
    EXPECT_GE(run->started(), last_start - 1ms);
    run->succeed(round);
    const LastRun last = once.last_run().value();
    EXPECT_EQ(last.result, round);
    EXPECT_GE(last.started, last_start);
    EXPECT_GT(last.token, last_token);
    last_start = last.started;
    last_token = last.token;
  }
}

TEST_P(OnceConformance, BeginningWaitsForARunAndSkipsIfItSucceeds) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  auto run = once.begin();
  ASSERT_TRUE(run);
  Background waiter([&](std::stop_token stop) { return Once(other, "hourly", long_period).begin(stop).has_value(); });
  ASSERT_TRUE(line_becomes(client, "hourly", 1));
  EXPECT_FALSE(waiter.finished());
  EXPECT_FALSE(Once(other, "hourly", long_period).try_begin());
  run->succeed();
  EXPECT_FALSE(waiter.take());
}

TEST_P(OnceConformance, BeginningWaitsForARunAndRunsIfItFails) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  auto run = once.begin();
  ASSERT_TRUE(run);
  const Token token = run->hold().token();
  Background waiter([&](std::stop_token stop) { return Once(other, "hourly", long_period).begin(stop); });
  ASSERT_TRUE(line_becomes(client, "hourly", 1));
  run->fail();
  auto next = waiter.take();
  ASSERT_TRUE(next);
  EXPECT_GT(next->hold().token(), token);
}

TEST_P(OnceConformance, AWaitForARunCanBeLimited) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  Once elsewhere(other, "hourly", long_period);
  EXPECT_TRUE(elsewhere.due());
  auto run = once.try_begin_for(1min);
  ASSERT_TRUE(run);
  EXPECT_FALSE(elsewhere.try_begin_for(0s));
  EXPECT_TRUE(test::is_not_granted([&] { return elsewhere.try_begin_for(150ms); }));
  EXPECT_TRUE(elsewhere.due()) << "it was only busy";
  run->succeed();
  EXPECT_FALSE(elsewhere.try_begin_for(1min));
  EXPECT_FALSE(elsewhere.due());
}

TEST_P(OnceConformance, AnAttemptSaysWhyThereIsNoRun) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  Once elsewhere(other, "hourly", long_period);
  Attempt first = once.attempt_for(1min);
  ASSERT_EQ(first.outcome, Attempt::Outcome::begun);
  EXPECT_TRUE(first.run);
  for (const auto wait : {0ms, 150ms}) {
    const Attempt busy = elsewhere.attempt_for(wait);
    EXPECT_EQ(busy.outcome, Attempt::Outcome::busy);
    EXPECT_FALSE(busy.run);
  }
  first.run.succeed();
  EXPECT_EQ(elsewhere.attempt_for(1min).outcome, Attempt::Outcome::done);
  EXPECT_EQ(elsewhere.attempt_for(0s).outcome, Attempt::Outcome::done);
}

TEST_P(OnceConformance, ASuccessCanBeRecordedBeforeTheLockIsGivenBack) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  Once elsewhere(other, "hourly", long_period);
  auto run = once.begin();
  ASSERT_TRUE(run);
  run->record_success(5);
  run->record_success(6);
  EXPECT_EQ(elsewhere.last_run().value().result, 6);
  EXPECT_TRUE(run->hold().valid());
  EXPECT_FALSE(Mutex(other, "hourly").try_acquire());
  EXPECT_EQ(run->release(), Released::released);
  EXPECT_EQ(errc_of([&] { run->release(); }), Errc::not_held);
  EXPECT_TRUE(Mutex(other, "hourly").try_acquire());
  EXPECT_FALSE(elsewhere.begin());
}

TEST_P(OnceConformance, AnEvictedRunRecordsNoSuccess) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  auto run = once.begin();
  ASSERT_TRUE(run);
  ASSERT_TRUE(other.evict("hourly"));
  ASSERT_TRUE(eventually([&] { return !run->hold().valid(); }));
  EXPECT_EQ(errc_of([&] { run->record_success(); }), Errc::lost);
  EXPECT_EQ(run->release(), Released::not_held);
  EXPECT_TRUE(once.due());
}

TEST_P(OnceConformance, AStopEndsTheWaitForARun) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  const auto run = once.begin();
  Once elsewhere(other, "hourly", long_period);
  Background waiter([&](std::stop_token stop) { return elsewhere.begin(stop); });
  ASSERT_TRUE(line_becomes(client, "hourly", 1));
  waiter.cancel();
  EXPECT_EQ(waiter.error(), Errc::cancelled);
  EXPECT_TRUE(line_becomes(client, "hourly", 0));
}

TEST_P(OnceConformance, AMutexOfItsNameExcludesIt) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  Hold hold = Mutex(other, "hourly").acquire();
  EXPECT_FALSE(once.try_begin());
  hold.release();
  const auto run = once.begin();
  ASSERT_TRUE(run);
  EXPECT_FALSE(Mutex(other, "hourly").try_acquire());
  EXPECT_EQ(other.show("hourly").value().kind, LockKind::lock);
}

TEST_P(OnceConformance, BadArgumentsAreRefused) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { Once(client, "x", 0ms); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Once(client, "x", -1s); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Once(client, "x", 1s, {.at_least = -1s}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Once(client, "x", 1s, {.at_most = -1s}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Once(client, "x", 1s, {.lock = {.ttl = 1ms}}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Once(client, "", 1s); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { static_cast<void>(Once(client, "x", 1s).try_begin_for(-1s)); }), Errc::invalid_argument);
  holdfast::Run none;
  EXPECT_FALSE(none);
  EXPECT_EQ(errc_of([&] { static_cast<void>(none.hold()); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { static_cast<void>(none.started()); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { none.succeed(); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { none.record_success(); }), Errc::not_held);
  EXPECT_EQ(errc_of([&] { none.release(); }), Errc::not_held);
  none.fail();
}

TEST_P(OnceConformance, ClosingEndsRunsAndWaits) {
  Client client = open();
  Client other = open();
  Once once(client, "hourly", long_period);
  auto run = once.begin();
  ASSERT_TRUE(run);
  Background waiter([&](std::stop_token stop) { return once.begin(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  client.close();
  EXPECT_EQ(waiter.error(), Errc::closed);
  const auto late = errc_of([&] { run->succeed(); });
  EXPECT_TRUE(late == Errc::closed || late == Errc::lost);
  EXPECT_EQ(errc_of([&] { static_cast<void>(once.begin()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(once.try_begin()); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(once.last_run()); }), Errc::closed);
  EXPECT_TRUE(Once(other, "hourly", long_period).run(nothing)) << "it has not succeeded";
}

}  // namespace
}  // namespace holdfast::conformance
