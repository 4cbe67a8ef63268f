#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "ids/grant.hpp"

namespace holdfast::ids {
namespace {

constexpr SnowflakeLayout layout({.time_bits = 41, .worker_bits = 10, .sequence_bits = 2});
constexpr std::uint64_t at(std::uint64_t tick, std::uint64_t sequence = 0) { return tick << 2U | sequence; }

/// Shows what a test says.
struct Clock {
  std::int64_t now = 0;
  std::int64_t late = 0;  ///< of the coarse one
  int exact_looks = 0;
  std::int64_t coarse() const { return now - late; }
  std::int64_t exact() {
    ++exact_looks;
    return now;
  }
};

TEST(Issue, IssuesEverySequenceNumberOfATickAndThenWaitsForTheNext) {
  Grant grant(1, 0, at(100), at(200));
  Clock clock{100};
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(issue(grant, layout, clock, 1).position, at(100, i));
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::spent);
  ++clock.now;
  const Issued next = issue(grant, layout, clock, 1);
  EXPECT_EQ(next.outcome, Outcome::issued);
  EXPECT_EQ(next.position, at(101)) << "after a crowded tick, every number counts";
}

TEST(Issue, LooksAtTheExactClockOnlyWhenTheCoarseOneKnowsNoMore) {
  Grant grant(1, 0, at(100), at(200));
  Clock clock{.now = 103, .late = 3};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::issued);
  EXPECT_EQ(clock.exact_looks, 0);
  EXPECT_EQ(issue(grant, layout, clock, 1).position >> 2U, 103U);
  EXPECT_EQ(clock.exact_looks, 1);
}

TEST(Issue, StopsBeforeTheLimit) {
  Grant grant(1, 0, at(100), at(101));
  Clock clock{100};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::issued);
  clock.now = 101;
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::at_limit);
  clock.now = 5000;
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::at_limit);
  grant.raise_limit(at(6000));
  EXPECT_EQ(issue(grant, layout, clock, 1).position >> 2U, 5000U) << "it goes on at the clock";
}

TEST(Issue, IssuesNothingInAGrantThatIsClosedOrWiped) {
  Grant grant(1, 0, at(100), at(200));
  Clock clock{100};
  issue(grant, layout, clock, 1);
  EXPECT_EQ(grant.close(), at(100, 1)) << "where a successor may start";
  EXPECT_EQ(grant.serial(), 0U);
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::closed);
  Grant wiped(0, 0, 0, 0);
  EXPECT_EQ(issue(wiped, layout, clock, 1).outcome, Outcome::at_limit);
}

TEST(Issue, ABatchLiesInOneTick) {
  Grant grant(1, 0, at(100), at(200));
  Clock clock{100};
  EXPECT_EQ(issue(grant, layout, clock, 3).position, at(100));
  EXPECT_EQ(issue(grant, layout, clock, 2).outcome, Outcome::spent);
  EXPECT_EQ(issue(grant, layout, clock, 1).position, at(100, 3));
  clock.now = 150;
  EXPECT_EQ(issue(grant, layout, clock, 4).position, at(150)) << "a whole tick, wherever a single id would begin";
}

TEST(Issue, GoesOnAtTheNewestIdWhenTheClockIsSetBackByALittle) {
  Grant grant(1, 0, at(100), at(200));
  grant.allow_ahead(5);
  Clock clock{110};
  const std::uint64_t before = issue(grant, layout, clock, 1).position;
  clock.now = 106;
  const Issued after = issue(grant, layout, clock, 1);
  EXPECT_EQ(after.outcome, Outcome::issued);
  EXPECT_EQ(after.position, before + 1);
  clock.now = 104;
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::clock_is_back);
  grant.allow_ahead(6);
  EXPECT_EQ(issue(grant, layout, clock, 1).position, before + 2);
}

TEST(Issue, EndsWithTheLayout) {
  const auto end = static_cast<std::uint64_t>(layout.ticks());
  Grant grant(1, 0, at(end - 1), at(end));
  Clock clock{layout.ticks() - 1};
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::issued);
  for (const std::int64_t now : {layout.ticks(), layout.ticks() + 1, std::numeric_limits<std::int64_t>::max()}) {
    clock.now = now;
    EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::at_limit) << now;
  }
  clock.now = -5;
  EXPECT_EQ(issue(grant, layout, clock, 1).outcome, Outcome::clock_is_back);
}

// Ids of a quiet generator spread over all shards, whatever their number.
TEST(Issue, SpreadsTheIdsOfAQuietGenerator) {
  constexpr SnowflakeLayout standard;
  Grant grant(1, 5, 0, Grant::closed - 1);
  for (const std::uint64_t shards : {2U, 3U, 7U, 8U, 10U, 16U, 64U}) {
    std::vector<double> found(shards);
    Clock clock{1'000'000 + static_cast<std::int64_t>(shards) * 10'000'000};
    constexpr int ids = 20'000;
    for (int i = 0; i < ids; ++i) {
      clock.now += 100;
      const Issued issued = issue(grant, standard, clock, 1);
      ASSERT_EQ(issued.outcome, Outcome::issued);
      found[standard.compose(static_cast<std::int64_t>(issued.position >> 12U), 5, issued.position & 4095U) % shards] +=
          1;
    }
    double chi_square = 0;
    const double expected = static_cast<double>(ids) / static_cast<double>(shards);
    for (const double each : found) chi_square += (each - expected) * (each - expected) / expected;
    EXPECT_LT(chi_square, 2 * static_cast<double>(shards) + 20) << shards << " shards";
  }
}

// --- calls beside a tenure that ends, in every order ----------------------------------------------------------------

// What a thread that issues and the one that keeps the worker number do, one access at a time, in every order there is.
// The real grant stands beside two that people would write: with three fields, and one that is ended by its limit.

using Id = std::pair<std::uint32_t, std::uint64_t>;

/// Number, position and limit in three words, as they must not be.
struct ThreeFields {
  std::uint32_t worker = 1;
  std::uint64_t next = at(14);
  std::uint64_t limit = at(20);
};

/// One call, as issue() makes it, in steps.
template <class State>
class Call {
 public:
  explicit Call(State& state) : state_(state) {}
  /// False when there is nothing left to do.
  bool step() {
    switch (done_++) {
      case 0: return state_.begin(), true;
      case 1: return seen_ = state_.read_next(), seen_ < Grant::closed;
      case 2: return seen_ < state_.read_limit();
      case 3: return state_.take(seen_);
      case 4: id = Id{state_.read_worker(), seen_}; return false;
      default: return false;
    }
  }
  std::optional<Id> id = {};

 private:
  State& state_;
  int done_ = 0;
  std::uint64_t seen_ = 0;
};

/// The real thing: a call uses one grant throughout.
struct RealState {
  Grant first{1, 1, at(14), at(20)};
  Grant second{2, 2, at(50), at(60)};
  Grant* current = &first;
  Grant* used = nullptr;

  void begin() { used = current; }
  std::uint64_t read_next() const { return used->next(); }
  std::uint64_t read_limit() const { return used->limit(); }
  bool take(std::uint64_t seen) const { return used->take(seen, seen + 1); }
  std::uint32_t read_worker() const { return used->worker(); }

  std::uint64_t close() const { return current->close(); }
  void lease_again(int step) {
    if (step == 0) current->close();
    if (step == 1) current = &second;
  }
};

struct MistakenState {
  ThreeFields fields = {};

  void begin() {}
  std::uint64_t read_next() const { return fields.next; }
  std::uint64_t read_limit() const { return fields.limit; }
  bool take(std::uint64_t seen) {
    if (fields.next != seen) return false;
    fields.next = seen + 1;
    return true;
  }
  std::uint32_t read_worker() const { return fields.worker; }

  /// Lowers the limit, and then looks how far it has come.
  std::uint64_t close_in_two_steps(int step) {
    if (step == 0) fields.limit = 0;
    return fields.next;
  }
  void lease_again(int step) {
    if (step == 0) fields.limit = 0;
    if (step == 1) fields.worker = 2;
    if (step == 2) fields.next = at(50);
    if (step == 3) fields.limit = at(60);
  }
};

/// Runs every order of the steps of a call and of `others` steps of somebody else; in how many an id was used before.
template <class State, class Other>
int orders_with_duplicates(int others, Other other) {
  constexpr int calls_steps = 5;
  int found = 0;
  // Where the other's steps stand among all.
  for (unsigned order = 0; order < 1U << static_cast<unsigned>(calls_steps + others); ++order) {
    if (std::popcount(order) != others) continue;
    State state;
    std::set<Id> used;
    for (std::uint64_t position = 0; position < at(50); ++position)
      used.emplace(2, position);  // number 2 has been used
    Call<State> call(state);
    bool calling = true;
    int others_step = 0;
    for (int i = 0; i < calls_steps + others; ++i) {
      if ((order >> static_cast<unsigned>(i) & 1U) != 0) {
        other(state, used, others_step++);
      } else if (calling) {
        calling = call.step();
      }
    }
    if (call.id && used.contains(*call.id)) ++found;
  }
  return found;
}

void successor_issues(std::set<Id>& used, std::uint64_t start) {
  for (std::uint64_t position = start; position < start + 20; ++position) used.emplace(1, position);
}

TEST(GrantInEveryOrder, WhatIsGivenBackIsIssuedByNobodyElseBefore) {
  const int found = orders_with_duplicates<RealState>(
      1, [](RealState& state, std::set<Id>& used, int) { successor_issues(used, state.close()); });
  EXPECT_EQ(found, 0);
}

TEST(GrantInEveryOrder, ANewTenureNeverMixesWithTheOldOne) {
  const int found = orders_with_duplicates<RealState>(3, [](RealState& state, std::set<Id>& used, int step) {
    state.lease_again(step);
    if (step == 2) successor_issues(used, at(20));
  });
  EXPECT_EQ(found, 0);
}

TEST(GrantInEveryOrderControl, FindsThatLoweringTheLimitDoesNotEndATenure) {
  const int found = orders_with_duplicates<MistakenState>(2, [](MistakenState& state, std::set<Id>& used, int step) {
    const std::uint64_t end = state.close_in_two_steps(step);
    if (step == 1) successor_issues(used, end);
  });
  EXPECT_GT(found, 0);
}

TEST(GrantInEveryOrderControl, FindsThatTheWorkerNumberIsReadAfterANewLease) {
  const int found = orders_with_duplicates<MistakenState>(5, [](MistakenState& state, std::set<Id>& used, int step) {
    state.lease_again(step);
    if (step == 4) successor_issues(used, at(20));
  });
  EXPECT_GT(found, 0);
}

// The same with real threads, for ThreadSanitizer.
TEST(Grant, ThreadsIssueDifferentIdsUntilItIsClosed) {
  for (int round = 0; round < 20; ++round) {
    Grant grant(1, 0, at(100), at(1'000'000));
    grant.allow_ahead(1'000'000);
    std::array<std::vector<std::uint64_t>, 3> issued;
    std::array<std::thread, 3> threads;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      threads[i] = std::thread([&, i] {
        Clock clock{100};
        for (;;) {
          const Issued next = issue(grant, layout, clock, static_cast<std::uint32_t>(i) + 1);
          if (next.outcome == Outcome::closed || next.outcome == Outcome::at_limit) return;
          if (next.outcome == Outcome::spent) ++clock.now;
          for (std::uint64_t k = 0; next.outcome == Outcome::issued && k <= i; ++k)
            issued[i].push_back(next.position + k);
        }
      });
    }
    grant.raise_limit(at(2'000'000));
    while (grant.next() < at(2000)) std::this_thread::yield();
    const std::uint64_t end = grant.close();
    for (std::thread& thread : threads) thread.join();
    std::vector<std::uint64_t> all;
    for (const auto& each : issued) {
      EXPECT_TRUE(std::ranges::is_sorted(each));
      all.insert(all.end(), each.begin(), each.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    EXPECT_LT(all.back(), end);
  }
}

}  // namespace
}  // namespace holdfast::ids
