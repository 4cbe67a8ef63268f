// The segments of a generator: the one in use, the next one, and the request for more.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "ids/segment_supply.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake_register.hpp"
#include "support/forked_child.hpp"

namespace holdfast::ids {
namespace {

using namespace std::chrono_literals;
using base::Instant;
using test::FakeStore;
using Fault = FakeStore::Fault;
using Caller = CalledOnce<std::uint64_t>;

class SegmentTest : public testing::Test {
 protected:
  /// Every request is answered once.
  void TearDown() override {
    store_.fault = [] { return Fault::refused; };
    while (store_.answer_one()) {
    }
  }
  /// Segments of exactly `size`, unless somebody wants more.
  void make(std::int64_t size, std::int64_t last = Counter::largest_last) {
    counter_ = std::make_shared<Counter>("counter 'c'", last, 0);
    supply_ = std::make_shared<SegmentSupply>(counter_, std::make_shared<test::FakeRegister>(store_),
                                              StepRule::Bounds{.smallest = size, .largest = size, .lasts = 1min},
                                              [this] { return now_; });
  }
  std::optional<std::uint64_t> next() {
    const auto id = supply_->window().take(1);
    return id ? id : supply_->try_take(1);
  }
  std::uint64_t next_value() { return next().value_or(0); }
  Answer<std::uint64_t> take(std::uint64_t count) { return *supply_->take(count, Instant::max(), {}, false); }
  Errc refusal(std::uint64_t count) {
    auto answer = take(count);
    return answer.ok() ? Errc::busy : answer.failure().code;
  }

  FakeStore store_;
  Instant now_{1h};
  std::shared_ptr<Counter> counter_;
  std::shared_ptr<SegmentSupply> supply_;
};

TEST_F(SegmentTest, ATryNeverWaitsAndSetsARefillGoing) {
  make(100);
  store_.holds_answers = true;
  EXPECT_FALSE(next());
  EXPECT_FALSE(next());
  EXPECT_EQ(store_.requests, 1u) << "one refill at a time";
  store_.answer_one();
  EXPECT_EQ(next(), 1u);
}

TEST_F(SegmentTest, FetchesTheNextSegmentAsSoonAsItsPlaceIsFree) {
  make(100);
  EXPECT_EQ(take(1).value(), 1u);
  EXPECT_EQ(store_.now.value, "200");
  for (std::uint64_t id = 2; id <= 100; ++id) ASSERT_EQ(next(), id);
  EXPECT_EQ(store_.requests, 2u);
  EXPECT_EQ(next(), 101u);
  EXPECT_EQ(store_.requests, 3u);
}

TEST_F(SegmentTest, GoesOnForTwoSegmentsWithoutItsStore) {
  make(100);
  EXPECT_EQ(take(1).value(), 1u);
  store_.fault = [] { return Fault::unreachable; };
  std::uint64_t issued = 1;
  while (next()) ++issued;
  EXPECT_EQ(issued, 200u);
  EXPECT_EQ(refusal(1), Errc::unreachable);
  store_.fault = [] { return Fault::none; };
  EXPECT_EQ(take(1).value(), 201u);
}

TEST_F(SegmentTest, RepeatsAFailedRefillLongBeforeItIsNeeded) {
  make(160);
  EXPECT_EQ(take(1).value(), 1u);
  store_.fault = [] { return Fault::unreachable; };
  for (int id = 1; id < 170; ++id) ASSERT_TRUE(next()) << id;
  store_.fault = [] { return Fault::none; };
  now_ += 10s;
  for (int id = 0; id < 20; ++id) ASSERT_TRUE(next());
  EXPECT_EQ(store_.now.value, "480") << "the third segment was fetched while the second one is in use";
}

TEST_F(SegmentTest, PausesBetweenRefillsThatFail) {
  make(16);
  EXPECT_EQ(take(1).value(), 1u);
  store_.fault = [] { return Fault::unreachable; };
  while (next()) {
  }
  const std::uint64_t requests = store_.requests;
  for (int call = 0; call < 1'000; ++call) EXPECT_FALSE(next());
  EXPECT_EQ(store_.requests, requests);
  now_ += 1s;
  EXPECT_FALSE(next());
  EXPECT_EQ(store_.requests, requests + 1);
}

TEST_F(SegmentTest, BurnsARefillInDoubt) {
  make(100);
  store_.fault = [] { return Fault::lost_answer; };
  EXPECT_EQ(refusal(1), Errc::in_doubt);
  store_.fault = [] { return Fault::none; };
  EXPECT_EQ(take(1).value(), 101u);
  EXPECT_EQ(supply_->metrics().counter.burnt, 100u);
}

TEST_F(SegmentTest, BurnsARefillBelowTheLastOne) {
  make(100);
  const Versioned empty = store_.now;
  EXPECT_EQ(take(150).value(), 1u);
  store_.lose_all_since(empty);
  std::uint64_t last = 150;
  for (int id = 0; id < 1'000; ++id) {
    const std::uint64_t next = take(1).value();
    ASSERT_GT(next, last);
    last = next;
  }
  EXPECT_EQ(supply_->metrics().counter.went_back, 1u);
}

TEST_F(SegmentTest, ReservesInOnePieceAndGoesOnAbove) {
  make(100);
  EXPECT_EQ(take(1).value(), 1u);
  EXPECT_EQ(take(50).value(), 2u);
  EXPECT_EQ(take(60).value(), 101u) << "the 49 that were left are no piece of 60";
  EXPECT_EQ(next(), 161u);
  EXPECT_EQ(supply_->metrics().counter.burnt, 49u);
  EXPECT_EQ(take(1'000).value(), 301u) << "more than any segment has";
  EXPECT_GT(next_value(), 1'300u);
  const SegmentMetrics metrics = supply_->metrics();
  EXPECT_EQ(metrics.counter.issued, 1u + 50 + 60 + 1 + 1'000 + 1);
}

TEST_F(SegmentTest, IssuesItsLastNumbersBeforeItSaysThatItIsOver) {
  make(100, 130);
  for (std::uint64_t id = 1; id <= 130; ++id) ASSERT_EQ(take(1).value(), id);
  EXPECT_EQ(refusal(1), Errc::end_of_life);
  EXPECT_FALSE(next());
  EXPECT_EQ(refusal(1), Errc::end_of_life);
}

TEST_F(SegmentTest, KeepsWhatIsLeftWhenSomebodyWantsMore) {
  make(100, 130);
  EXPECT_EQ(take(1).value(), 1u);
  EXPECT_EQ(refusal(500), Errc::end_of_life);
  for (std::uint64_t id = 2; id <= 130; ++id) ASSERT_EQ(take(1).value(), id);
}

TEST_F(SegmentTest, SaysWhatIsAtHand) {
  make(100);
  EXPECT_EQ(supply_->metrics().at_hand, 0u);
  static_cast<void>(take(1));
  now_ += 1s;
  for (int id = 0; id < 109; ++id) next();
  const SegmentMetrics metrics = supply_->metrics();
  EXPECT_EQ(metrics.counter.issued, 110u);
  EXPECT_EQ(metrics.at_hand, 190u);
  EXPECT_EQ(metrics.step, 100u);
  EXPECT_EQ(metrics.refills, 3u);
  EXPECT_GT(metrics.lasts_for, 1s);
  EXPECT_LT(metrics.lasts_for, 4s);
}

TEST_F(SegmentTest, CallsBackWhenTheStoreAnswers) {
  make(2);
  store_.holds_answers = true;
  std::vector<std::uint64_t> ids;
  std::vector<std::error_code> errors;
  const auto call = [&](std::stop_token stop = {}) {
    const auto caller = std::make_shared<Caller>(
        [&](std::error_code error, std::uint64_t id) { error ? errors.push_back(error) : ids.push_back(id); });
    caller->obey(std::move(stop));
    supply_->take_later(caller);
  };
  std::stop_source stop;
  for (int caller = 0; caller < 3; ++caller) call();
  call(stop.get_token());
  call();
  stop.request_stop();
  EXPECT_EQ(errors, std::vector{make_error_code(Errc::cancelled)});
  while (store_.answer_one()) {
  }
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  store_.fault = [] { return Fault::refused; };
  for (int caller = 0; caller < 9; ++caller) call();
  while (store_.answer_one()) {
  }
  EXPECT_EQ(errors.back(), make_error_code(Errc::access_denied));
  EXPECT_EQ(ids.size() + errors.size(), 14u) << "each is called once";
}

TEST_F(SegmentTest, WaitsUntilItsDeadlineThroughAnOutage) {
  make(100);
  store_.fault = [] { return Fault::unreachable; };
  supply_ = std::make_shared<SegmentSupply>(counter_, std::make_shared<test::FakeRegister>(store_),
                                            StepRule::Bounds{.smallest = 100, .largest = 100});
  EXPECT_FALSE(supply_->take(1, base::BootClock::now() + 50ms, {}, true));
  int failures = 3;
  store_.fault = [&] { return failures-- > 0 ? Fault::unreachable : Fault::none; };
  EXPECT_EQ(supply_->take(1, base::BootClock::now() + 60s, {}, true)->value(), 1u);
  EXPECT_GE(supply_->metrics().waits, 2u);
}

TEST_F(SegmentTest, AStopEndsAWait) {
  make(100);
  store_.holds_answers = true;
  std::stop_source stop;
  std::optional<Answer<std::uint64_t>> answer;
  std::jthread waiter([&] { answer = supply_->take(1, Instant::max(), stop.get_token(), true); });
  ASSERT_TRUE(test::eventually([&] { return supply_->metrics().waits == 1; }));
  stop.request_stop();
  waiter.join();
  EXPECT_EQ(answer->failure().code, Errc::cancelled);
}

// The window is handed from segment to segment while others take from it.
TEST_F(SegmentTest, ThreadsGetRisingNumbersAndNoneTwice) {
  make(64);
  constexpr int threads = 4;
  constexpr int calls = 20'000;
  std::vector<std::vector<std::uint64_t>> issued(threads);
  std::mutex store_is_for_one_thread;
  store_.fault = [] { return Fault::none; };
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        auto& mine = issued[static_cast<std::size_t>(thread)];
        while (mine.size() < calls) {
          auto id = supply_->window().take(1);
          if (!id) {
            const std::scoped_lock lock(store_is_for_one_thread);
            id = supply_->try_take(1);
          }
          if (id) mine.push_back(*id);
        }
      });
    }
  }
  std::set<std::uint64_t> all;
  for (const auto& mine : issued) {
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), std::size_t{threads} * calls);
}

TEST_F(SegmentTest, AForkedChildHasNothingOfIt) {
  make(100);
  EXPECT_EQ(take(1).value(), 1u);
  EXPECT_TRUE(test::succeeds_in_forked_child([&](test::ChildReport& report) {
    report.expect(!next(), "it issues its parent's numbers");
    report.expect(refusal(1) == Errc::forked, "it does not say why");
  }));
  EXPECT_EQ(next(), 2u);
}

// Negative control: a limit that is not wiped in the child.
TEST(SegmentControl, AChildThatCopiesTheWindowRepeatsItsParentsNumbers) {
  SegmentWindow copied;
  copied.open_until(100);
  EXPECT_TRUE(test::succeeds_in_forked_child(
      [&](test::ChildReport& report) { report.expect(copied.take(1) == 0u, "it has no numbers"); }));
  EXPECT_EQ(copied.take(1), 0u) << "the same";
}

}  // namespace
}  // namespace holdfast::ids
