// Registers that many write, and that many wait for.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;

/// One more than the number in `text`; of nothing, 1.
std::string incremented(const std::string& text) { return std::to_string(text.empty() ? 1 : std::stoi(text) + 1); }

/// Calls, again if the store was too busy to do anything at all. False if it is in doubt whether it was done, which a
/// disk that is slow to confirm can bring about.
template <class Call>
bool certainly(Call call) {
  std::optional<Errc> error;
  do {
    error = errc_of(call);
  } while (error == Errc::unreachable);
  if (error && error != Errc::in_doubt) throw Error(*error, "a call that must succeed");
  return !error;
}

/// Whether the register holds `expected`, or fewer by no more than what is in doubt.
void expect_counted(Client& client, const LockName& name, int expected, int doubtful) {
  const int counted = std::stoi(Register(client, name).get().value);
  EXPECT_LE(counted, expected);
  EXPECT_GE(counted, expected - doubtful);
}

/// Runs `work` on `threads` threads, with one of three clients each.
template <class Work>
void with_three_clients(const std::string& url, int threads, Work work) {
  Client clients[] = {Client(url), Client(url), Client(url)};
  std::vector<std::jthread> running;
  for (int number = 0; number < threads; ++number) {
    running.emplace_back([&, number] { work(clients[number % 3]); });
  }
}

TEST_P(RegisterConformance, AddingIsExact) {
  Client observer = open();
  std::atomic<int> doubtful = 0;
  with_three_clients(url(), 8, [&](Client& client) {
    Register counter(client, "counter");
    for (int round = 0; round < 25; ++round) doubtful += certainly([&] { counter.add(1); }) ? 0 : 1;
  });
  expect_counted(observer, "counter", 200, doubtful);
}

TEST_P(RegisterConformance, UpdatingIsExact) {
  Client observer = open();
  std::atomic<int> doubtful = 0;
  with_three_clients(url(), 8, [&](Client& client) {
    Register counter(client, "counter");
    for (int round = 0; round < 12; ++round) doubtful += certainly([&] { counter.update(incremented); }) ? 0 : 1;
  });
  expect_counted(observer, "counter", 96, doubtful);
}

// What the two above would notice: reading and writing in two steps loses additions.
TEST_P(RegisterConformance, ReadingAndWritingInTwoStepsIsNot) {
  Client observer = open();
  int rounds = 0;
  const bool damaged = eventually([&] {
    const std::string name = "control/" + std::to_string(++rounds);
    with_three_clients(url(), 6, [&](Client& client) {
      Register counter(client, name);
      for (int round = 0; round < 20; ++round) {
        certainly([&] { counter.set(incremented(counter.get().value)); });
      }
    });
    return Register(observer, name).get().value != "120";
  });
  EXPECT_TRUE(damaged);
}

TEST_P(SharedStoreConformance, AddingAndUpdatingInSeveralProcessesIsExact) {
  std::vector<ForkedChild> children;
  for (int number = 0; number < 3; ++number) {
    children.emplace_back([&](ChildReport&) {
      std::atomic<int> doubtful = 0;
      with_three_clients(url(), 4, [&](Client& client) {
        for (int round = 0; round < 5; ++round) {
          doubtful += certainly([&] { Register(client, "added").add(1); }) ? 0 : 1;
          doubtful += certainly([&] { Register(client, "updated").update(incremented); }) ? 0 : 1;
        }
      });
      Client client(url());
      for (; doubtful > 0; --doubtful) certainly([&] { Register(client, "doubtful").add(1); });
    });
  }
  for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
  Client client = open();
  const std::string text = Register(client, "doubtful").get().value;
  const int doubtful = text.empty() ? 0 : std::stoi(text);
  for (const char* name : {"added", "updated"}) expect_counted(client, name, 60, doubtful);
}

/// What one call saw, and when.
struct Event {
  steady_clock::time_point began;
  steady_clock::time_point ended;
  std::uint64_t version;
  bool wrote;
};

/// Why these events of one register are not linearizable; empty if they are. Versions are the order: each write has one
/// of its own, nobody sees less than what was there before it began, and nobody sees what was not begun when it ended.
std::string contradiction(const std::vector<Event>& events, bool all_writes_known = true) {
  for (const Event& event : events) {
    for (const Event& other : events) {
      if (&event == &other) continue;
      if (event.wrote && other.wrote && event.version == other.version) return "two writes have one version";
      if (event.ended >= other.began) continue;
      const bool goes_on = other.wrote ? other.version > event.version : other.version >= event.version;
      if (!goes_on) return "a later call saw an earlier version";
    }
  }
  for (const Event& read : events) {
    if (read.wrote || read.version == 0 || !all_writes_known) continue;
    const bool written = std::ranges::any_of(events, [&](const Event& event) {
      return event.wrote && event.version == read.version && event.began <= read.ended;
    });
    if (!written) return "a version was read that nobody had written";
  }
  return {};
}

TEST(ContradictionControl, FindsStaleReadsAndLostWrites) {
  const auto at = [](int time) { return steady_clock::time_point(milliseconds(time)); };
  const Event first{at(0), at(2), 1, true};
  const Event second{at(3), at(5), 2, true};
  EXPECT_EQ(contradiction({first, second, {at(1), at(6), 1, false}, {at(6), at(7), 2, false}}), "");
  EXPECT_NE(contradiction({first, second, {at(6), at(7), 1, false}}), "");
  EXPECT_NE(contradiction({first, {at(3), at(5), 1, true}}), "");
  EXPECT_NE(contradiction({second, {at(6), at(7), 1, true}}), "");
  EXPECT_NE(contradiction({first, {at(6), at(7), 2, false}}), "");
}

// RG2, without faults
TEST_P(RegisterConformance, ReadsAndConditionalWritesAreLinearizable) {
  std::mutex guard;
  std::vector<Event> events;
  std::atomic<int> next = 0;
  std::atomic<int> doubtful = 0;
  with_three_clients(url(), 6, [&](Client& client) {
    Register mine(client, "contended");
    const int self = next++;
    for (int round = 0; round < 40; ++round) {
      const auto began = steady_clock::now();
      Versioned seen;
      certainly([&] { seen = mine.get(); });
      const auto read = steady_clock::now();
      Written written;
      const std::string value = std::to_string(self) + "/" + std::to_string(round);
      if (!certainly([&] { written = mine.compare_and_set(seen.version, value); })) {
        ++doubtful;
        continue;
      }
      const auto ended = steady_clock::now();
      const std::scoped_lock lock(guard);
      events.push_back({began, read, seen.version, false});
      events.push_back({read, ended, written.now.version, written.written});
    }
  });
  EXPECT_EQ(contradiction(events, doubtful == 0), "");
  EXPECT_GT(std::ranges::count_if(events, &Event::wrote), 5);
}

// RG8
TEST_P(RegisterConformance, WaitsForAChange) {
  Client client = open();
  Client other = open();
  Register mine(client, "watched");
  Register theirs(other, "watched");
  const std::uint64_t first = mine.set("one");
  EXPECT_EQ(mine.wait_for_change(0).value, "one") << "changed already";
  EXPECT_EQ(mine.wait_for_change(first + 17).value, "one") << "not the version that was seen";
  Background waiter([&](std::stop_token stop) { return mine.wait_for_change(first, stop); });
  EXPECT_FALSE(waiter.finishes(150ms));
  const std::uint64_t second = theirs.set("two");
  const Versioned changed = waiter.take();
  EXPECT_EQ(changed.value, "two");
  EXPECT_EQ(changed.version, second);
}

TEST_P(RegisterConformance, WaitsForTheFirstWrite) {
  Client client = open();
  Client other = open();
  Register mine(client, "watched");
  Background waiter([&](std::stop_token stop) { return mine.wait_for_change(0, stop); });
  EXPECT_FALSE(waiter.finishes(150ms));
  Register(other, "watched").add(7);
  EXPECT_EQ(waiter.take().value, "7");
}

TEST_P(RegisterConformance, AWaitForAChangeEndsInTime) {
  Client client = open();
  Register mine(client, "watched");
  const std::uint64_t seen = mine.set("one");
  const auto begin = steady_clock::now();
  EXPECT_FALSE(mine.wait_for_change_for(seen, 300ms));
  EXPECT_GE(steady_clock::now() - begin, 290ms);
  EXPECT_FALSE(mine.wait_for_change_for(seen, 0s));
  EXPECT_TRUE(mine.wait_for_change_for(0, 0s)) << "changed already";
}

TEST_P(RegisterConformance, AStopEndsAWaitForAChange) {
  Client client = open();
  Register mine(client, "watched");
  const std::uint64_t seen = mine.set("one");
  Background waiter([&](std::stop_token stop) { return mine.wait_for_change(seen, stop); });
  EXPECT_FALSE(waiter.finishes(150ms));
  waiter.cancel();
  EXPECT_EQ(waiter.error(), Errc::cancelled);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(errc_of([&] { mine.wait_for_change(0, stopped.get_token()); }), Errc::cancelled);
}

// RG8: in order, and never a value that belongs to another version.
TEST_P(RegisterConformance, AWatcherSeesVersionsInOrder) {
  constexpr int writes = 40;
  Client client = open();
  Client other = open();
  Register theirs(other, "watched");
  std::vector<std::uint64_t> versions;
  Background watcher([&](std::stop_token stop) {
    Register mine(client, "watched");
    std::vector<Versioned> seen;
    do {
      seen.push_back(mine.wait_for_change(seen.empty() ? 0 : seen.back().version, stop));
    } while (seen.back().value != std::to_string(writes - 1));
    return seen;
  });
  for (int number = 0; number < writes; ++number) versions.push_back(theirs.set(std::to_string(number)));
  const auto seen = watcher.take();
  for (std::size_t at = 0; at < seen.size(); ++at) {
    if (at > 0) {
      EXPECT_GT(seen[at].version, seen[at - 1].version);
    }
    EXPECT_EQ(versions.at(std::stoul(seen[at].value)), seen[at].version);
  }
  for (std::size_t at = 1; at < versions.size(); ++at) {
    EXPECT_GT(versions[at], versions[at - 1]);
  }
}

TEST_P(RegisterConformance, EverybodyWhoWaitsHearsOfAChange) {
  Client clients[] = {open(), open()};
  const std::uint64_t seen = Register(clients[0], "watched").set("one");
  std::vector<std::unique_ptr<Background<Versioned>>> waiters;
  for (int number = 0; number < 8; ++number) {
    waiters.push_back(std::make_unique<Background<Versioned>>([&, number](std::stop_token stop) {
      return Register(clients[number % 2], "watched").wait_for_change(seen, stop);
    }));
  }
  EXPECT_FALSE(waiters.back()->finishes(150ms));
  Register(clients[1], "watched").set("two");
  for (const auto& waiter : waiters) EXPECT_EQ(waiter->take().value, "two");
}

TEST_P(SharedStoreConformance, AWaitHearsOfAChangeByAnotherProcess) {
  ForkedChild writer([&](ChildReport& report) {
    Client client(url());
    Register asked(client, "asked");
    std::uint64_t seen = 0;
    for (int round = 0; round < 10; ++round) {
      const auto question = asked.wait_for_change_for(seen, test::patience);
      report.expect(question.has_value(), "is asked");
      if (!question) return;
      seen = question->version;
      Register(client, "answered").set(question->value);
    }
  });
  Client client = open();
  std::uint64_t seen = 0;
  for (int round = 0; round < 10; ++round) {
    Register(client, "asked").set(std::to_string(round));
    const auto answer = Register(client, "answered").wait_for_change_for(seen, test::patience);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->value, std::to_string(round));
    seen = answer->version;
  }
  EXPECT_TRUE(writer.succeeds());
}

}  // namespace
}  // namespace holdfast::conformance
