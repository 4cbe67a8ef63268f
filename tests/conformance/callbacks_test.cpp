// Callbacks: once, on a thread of the client's own, free to block and to call back.

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "conformance/fixture.hpp"
#include "support/gate.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;
using test::Gate;
using test::Recorder;

/// What async_acquire() called back with.
struct Answer {
  std::error_code code;
  Hold hold;
  std::thread::id thread = std::this_thread::get_id();
};

AcquireCallback into(Recorder<Answer>& answers) {
  return [&answers](std::error_code code, Hold hold) { answers.add({code, std::move(hold)}); };
}

TEST_P(MutexConformance, AnAsynchronousAcquireIsAnsweredOnceWithAHold) {
  Recorder<Answer> answers;
  Client client = open();
  Mutex(client, "free").async_acquire(into(answers));
  ASSERT_TRUE(answers.reaches(1));
  auto all = answers.take();
  EXPECT_FALSE(all[0].code);
  EXPECT_TRUE(all[0].hold.valid());
  EXPECT_EQ(all[0].hold.name(), LockName("free"));
  EXPECT_NE(all[0].thread, std::this_thread::get_id());
  EXPECT_FALSE(Mutex(client, "free").try_acquire());
  EXPECT_EQ(all[0].hold.release(), Released::released);
  client.close();
  EXPECT_EQ(answers.size(), 0u);
}

TEST_P(MutexConformance, AnAsynchronousAcquireWaitsInLine) {
  Recorder<Answer> answers;
  Client client = open();
  Client other = open();
  Hold hold = Mutex(other, "taken").acquire();
  Mutex(client, "taken").async_acquire(into(answers));
  EXPECT_TRUE(line_becomes(other, "taken", 1));
  EXPECT_EQ(client.health().waiting, 1u);
  EXPECT_EQ(answers.size(), 0u);
  hold.release();
  ASSERT_TRUE(answers.reaches(1));
  EXPECT_TRUE(answers.take()[0].hold.valid());
}

// M16
TEST_P(MutexConformance, ACancelledAsynchronousAcquireIsAnsweredOnce) {
  Recorder<Answer> answers;
  Client client = open();
  Client other = open();
  const Hold hold = Mutex(other, "taken").acquire();
  std::stop_source stop;
  Mutex(client, "taken").async_acquire(into(answers), stop.get_token());
  EXPECT_TRUE(line_becomes(other, "taken", 1));
  stop.request_stop();
  EXPECT_TRUE(answers.reaches(1));
  EXPECT_TRUE(line_becomes(other, "taken", 0));
  client.close();
  const auto all = answers.take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, Errc::cancelled);
  EXPECT_FALSE(all[0].hold);
}

TEST_P(MutexConformance, AClosedAsynchronousAcquireIsAnsweredOnce) {
  Recorder<Answer> answers;
  Client client = open();
  Client other = open();
  const Hold hold = Mutex(other, "taken").acquire();
  Mutex(client, "taken").async_acquire(into(answers));
  EXPECT_TRUE(line_becomes(other, "taken", 1));
  client.close();
  EXPECT_TRUE(answers.reaches(1));
  const auto all = answers.take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, Errc::closed);
  EXPECT_FALSE(all[0].hold);
}

// M19, for callbacks
TEST_P(MutexConformance, AsynchronousAcquiresThatRaceWithTheirCancelAreAnsweredOnce) {
  Recorder<Answer> answers;
  Client client = open();
  Client other = open();
  Mutex mutex(client, "raced");
  int granted = 0;
  for (test::Rounds rounds(300); rounds.next();) {
    Hold hold = Mutex(other, "raced").acquire();
    std::stop_source stop;
    mutex.async_acquire(into(answers), stop.get_token());
    if (rounds.done() % 3 == 0) {
      ASSERT_TRUE(line_becomes(other, "raced", 1));
    }
    std::jthread canceller([&] { stop.request_stop(); });
    hold = {};
    ASSERT_TRUE(answers.reaches(1)) << "round " << rounds.done();
    const auto all = answers.take();
    ASSERT_EQ(all.size(), 1u);
    if (all[0].hold) ++granted;
    EXPECT_EQ(all[0].code, all[0].hold ? std::error_code() : make_error_code(Errc::cancelled));
  }
  EXPECT_TRUE(becomes_free(other, "raced"));
  client.close();
  EXPECT_EQ(answers.size(), 0u);
  RecordProperty("granted", granted);
}

TEST_P(MutexConformance, ManyAsynchronousAcquiresAreServedInOrder) {
  Recorder<int> served;
  Client client = open();
  Mutex mutex(client, "line");
  Hold hold = mutex.acquire();
  for (int number = 0; number < 100; ++number) {
    mutex.async_acquire([&served, number](std::error_code code, Hold mine) {
      if (!code && mine.valid()) served.add(number);
    });
  }
  EXPECT_TRUE(waiting_becomes(client, 100));
  hold.release();
  EXPECT_TRUE(served.reaches(100));
  const auto all = served.all();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  client.close();
  EXPECT_EQ(served.size(), 100u);
}

TEST_P(MutexConformance, TheMutexMayGoBeforeItsAsynchronousAnswer) {
  Recorder<Answer> answers;
  Client client = open();
  Client other = open();
  Hold hold = Mutex(other, "taken").acquire();
  {
    Mutex mutex(client, "taken");
    mutex.async_acquire(into(answers));
  }
  hold.release();
  ASSERT_TRUE(answers.reaches(1));
  EXPECT_TRUE(answers.take()[0].hold.valid());
}

// The hold is released by the callback that does not keep it.
TEST_P(MutexConformance, AnAsynchronousHoldThatNobodyKeepsIsReleased) {
  Client client = open();
  Gate called;
  Mutex(client, "mine").async_acquire([&](std::error_code, Hold) { called.open(); });
  EXPECT_TRUE(called.wait());
  EXPECT_TRUE(becomes_free(client, "mine"));
}

TEST_P(ClientConformance, ABlockedAcquireCallbackStopsNeitherRenewalsNorOtherCallbacks) {
  Gate unblock;
  Gate blocked;
  Gate other_called;
  Client client = open();
  const Hold hold = Mutex(client, "renewed", {.ttl = steady_ttl()}).acquire();
  Mutex(client, "blocking").async_acquire([&](std::error_code, Hold) {
    blocked.open();
    unblock.wait(3 * test::patience);
  });
  ASSERT_TRUE(blocked.wait());
  Mutex(client, "other").async_acquire([&](std::error_code, Hold) { other_called.open(); });
  EXPECT_TRUE(other_called.wait());
  const auto renewals = client.health().renewals;
  EXPECT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_TRUE(hold.valid());
  unblock.open();
  client.close();
}

TEST_P(ClientConformance, ABlockedChangeCallbackStopsNeitherRenewalsNorOtherCallbacks) {
  Gate unblock;
  Gate blocked;
  Gate other_called;
  Client client = open();
  const Hold hold = Mutex(client, "renewed", {.ttl = steady_ttl()}).acquire();
  Hold first = Mutex(client, "first", {.ttl = steady_ttl()}).acquire();
  Hold second = Mutex(client, "second", {.ttl = steady_ttl()}).acquire();
  first.on_change([&](HoldState) {
    blocked.open();
    unblock.wait(3 * test::patience);
  });
  second.on_change([&](HoldState) { other_called.open(); });
  ASSERT_TRUE(client.evict("first"));
  ASSERT_TRUE(blocked.wait());
  ASSERT_TRUE(client.evict("second"));
  EXPECT_TRUE(other_called.wait());
  const auto renewals = client.health().renewals;
  EXPECT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(first.stop_token().stop_requested());
  unblock.open();
  client.close();
}

// Whoever registers a stop_callback runs on a thread of the client's own, too.
TEST_P(ClientConformance, ABlockedStopCallbackStopsNoRenewals) {
  Gate unblock;
  Gate blocked;
  Client client = open();
  const Hold hold = Mutex(client, "renewed", {.ttl = steady_ttl()}).acquire();
  const Hold lost = Mutex(client, "lost", {.ttl = steady_ttl()}).acquire();
  {
    const std::stop_callback callback(lost.stop_token(), [&] {
      blocked.open();
      unblock.wait(3 * test::patience);
    });
    ASSERT_TRUE(client.evict("lost"));
    ASSERT_TRUE(blocked.wait());
    const auto renewals = client.health().renewals;
    EXPECT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
    EXPECT_TRUE(hold.valid());
    unblock.open();
  }
  client.close();
}

TEST_P(ClientConformance, ABlockedErrorCallbackStopsNoRenewals) {
  Gate unblock;
  Gate blocked;
  Client client = open({.on_error = [&](const Error&) {
    blocked.open();
    unblock.wait(3 * test::patience);
  }});
  const Hold hold = Mutex(client, "renewed", {.ttl = steady_ttl()}).acquire();
  Mutex(client, "nobodys").unlock();
  ASSERT_TRUE(blocked.wait());
  const auto renewals = client.health().renewals;
  EXPECT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(Mutex(client, "another").try_acquire());
  unblock.open();
  client.close();
}

TEST_P(ClientConformance, ABlockedLogStopsNoRenewals) {
  Gate unblock;
  Recorder<std::string> lines;
  Client client = open({.log = [&](LogLevel, std::string_view line) {
    lines.add(std::string(line));
    unblock.wait(3 * test::patience);
  }});
  const Hold hold = Mutex(client, "renewed", {.ttl = steady_ttl()}).acquire();
  const Hold lost = Mutex(client, "lost", {.ttl = steady_ttl()}).acquire();
  ASSERT_TRUE(client.evict("lost"));
  EXPECT_TRUE(lines.reaches(1)) << "a loss is something that a person may want to read";
  const auto renewals = client.health().renewals;
  EXPECT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_TRUE(hold.valid());
  unblock.open();
  client.close();
}

TEST_P(ClientConformance, AnAcquireCallbackMayUseHoldfast) {
  Recorder<std::string> done;
  Client client = open();
  Mutex(client, "first").async_acquire([&](std::error_code code, Hold hold) {
    EXPECT_FALSE(code);
    Mutex second(client, "second");
    const std::scoped_lock lock(second);
    EXPECT_TRUE(second.hold().valid());
    EXPECT_FALSE(Mutex(client, "first").try_acquire());
    EXPECT_TRUE(client.show("first"));
    EXPECT_TRUE(client.show("second"));
    EXPECT_EQ(hold.release(), Released::released);
    EXPECT_TRUE(Mutex(client, "first").try_acquire_for(test::patience));
    Mutex(client, "third").async_acquire([&](std::error_code, Hold) { done.add("inner"); });
    done.add("outer");
  });
  EXPECT_TRUE(done.reaches(2));
  client.close();
}

TEST_P(ClientConformance, AChangeCallbackMayUseHoldfast) {
  Recorder<Token> tokens;
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  hold.on_change([&](HoldState state) {
    EXPECT_EQ(state, HoldState::lost);
    EXPECT_FALSE(hold.valid());
    tokens.add(Mutex(client, "mine").acquire().token());
  });
  ASSERT_TRUE(client.evict("mine"));
  EXPECT_TRUE(tokens.reaches(1));
  client.close();
  EXPECT_GT(tokens.all().at(0), hold.token());
}

TEST_P(ClientConformance, AnErrorCallbackMayUseHoldfast) {
  Recorder<std::size_t> seen;
  std::optional<Client> client;
  client.emplace(url(),
                 ClientOptions{.on_error = [&](const Error&) { seen.add(client->show("mine").has_value() ? 1 : 0); }});
  const Hold hold = Mutex(*client, "mine").acquire();
  Mutex(*client, "nobodys").unlock();
  EXPECT_TRUE(seen.reaches(1));
  EXPECT_EQ(seen.all(), std::vector<std::size_t>{1});
  client->close();
}

// It works or it says why not, but it never deadlocks.
TEST_P(ClientConformance, ACallbackMayCloseItsClient) {
  Gate closed;
  Client client = open();
  Mutex(client, "mine").async_acquire([&](std::error_code, Hold) {
    client.close();
    closed.open();
  });
  EXPECT_TRUE(closed.wait());
  client.close();
  EXPECT_EQ(errc_of([&] { static_cast<void>(client.list()); }), Errc::closed);
}

TEST_P(ClientConformance, AChangeIsToldOnceAndOnlyAChange) {
  Recorder<HoldState> states;
  Client client = open();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  hold.on_change([&](HoldState state) { states.add(state); });
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= 2; }));
  EXPECT_EQ(states.size(), 0u) << "renewals that succeed are no news";
  ASSERT_TRUE(client.evict("mine"));
  EXPECT_TRUE(states.reaches(1));
  client.close();
  EXPECT_EQ(states.all(), std::vector{HoldState::lost}) << "each state is told once";
}

}  // namespace
}  // namespace holdfast::conformance
