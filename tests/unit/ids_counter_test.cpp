// Numbers from a counter in a register that may fail, be late, and lose what it had acknowledged.

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <set>

#include "ids/counter.hpp"
#include "support/errors.hpp"
#include "support/fake_register.hpp"

namespace holdfast::ids {
namespace {

using test::FakeStore;
using test::outcome_of;
using Fault = FakeStore::Fault;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

class CounterTest : public testing::Test {
 protected:
  static std::shared_ptr<Counter> counter(std::int64_t last = Counter::largest_last, std::int64_t gap = 100) {
    return std::make_shared<Counter>("counter 'c'", last, gap);
  }
  Answer<Numbers> take(const std::shared_ptr<Counter>& counter, std::int64_t count, std::int64_t at_least = 1) {
    return outcome_of(take_numbers(counter, source_, count, at_least));
  }
  Errc refusal(const std::shared_ptr<Counter>& counter, std::int64_t count, std::int64_t at_least = 1) {
    auto answer = take(counter, count, at_least);
    return answer.ok() ? Errc::busy : answer.failure().code;
  }

  FakeStore store_;
  std::shared_ptr<CounterRegister> source_ = std::make_shared<test::FakeRegister>(store_);
};

TEST_F(CounterTest, BeginsAtOneAndRepeatsNothing) {
  const auto mine = counter();
  const auto theirs = counter();
  EXPECT_EQ(take(mine, 1).value(), (Numbers{1, 2}));
  EXPECT_EQ(take(theirs, 10).value(), (Numbers{2, 12}));
  EXPECT_EQ(take(mine, 5).value(), (Numbers{12, 17}));
  EXPECT_EQ(store_.now.value, "16");
  EXPECT_EQ(store_.requests, 3u);
}

TEST_F(CounterTest, IsRefusedWhereTheRegisterHasSomethingElse) {
  for (const char* text : {"seven", "layout 41/10/12", "", "closed 17"}) {
    store_.set(text);
    EXPECT_EQ(refusal(counter(), 1), Errc::store_failed) << text;
    EXPECT_EQ(store_.now.value, text);
  }
  store_.set("-5");
  EXPECT_EQ(refusal(counter(), 1), Errc::store_failed);
}

TEST_F(CounterTest, EndsWithItsLastNumberAndNeverWraps) {
  const auto mine = counter(20);
  EXPECT_EQ(take(mine, 15).value(), (Numbers{1, 16}));
  EXPECT_EQ(take(mine, 15).value(), (Numbers{16, 21})) << "fewer than were asked for";
  EXPECT_EQ(refusal(mine, 1), Errc::end_of_life);
  EXPECT_EQ(refusal(counter(20), 1), Errc::end_of_life) << "for others, too";
  const std::uint64_t requests = store_.requests;
  EXPECT_EQ(refusal(mine, 1), Errc::end_of_life);
  EXPECT_EQ(store_.requests, requests) << "it need not ask again";
}

TEST_F(CounterTest, GivesTheVeryLastNumbersThatFitInto64Bits) {
  store_.set(std::to_string(largest - 10));
  const auto mine = counter();
  EXPECT_EQ(take(mine, 1'000).value(), (Numbers{largest - 9, largest}));
  EXPECT_EQ(refusal(mine, 1), Errc::end_of_life);
  EXPECT_EQ(refusal(counter(), 1), Errc::end_of_life);
}

TEST_F(CounterTest, KeepsWhatIsLeftFromWhoeverWantsMore) {
  store_.set(std::to_string(largest - 10));
  EXPECT_EQ(refusal(counter(), 1'000, 1'000), Errc::end_of_life);
  EXPECT_EQ(store_.now.value, std::to_string(largest - 10)) << "a mistake does not use the counter up";
  EXPECT_EQ(take(counter(), 1).value(), (Numbers{largest - 9, largest - 8}));
}

TEST_F(CounterTest, ComesBackToTheRestWhenSomebodyElseWasFaster) {
  store_.set(std::to_string(largest - 10));
  int others = 3;
  store_.before_write = [&] {
    if (others-- > 0) static_cast<void>(store_.add(1));
  };
  EXPECT_EQ(take(counter(), 1'000).value(), (Numbers{largest - 6, largest}));
}

TEST_F(CounterTest, LeavesOutWhatIsInDoubt) {
  const auto mine = counter();
  std::set<std::int64_t> issued;
  for (const Fault fault : {Fault::lost_answer, Fault::lost_request, Fault::late_execution, Fault::none}) {
    store_.fault = [&] { return fault; };
    EXPECT_EQ(take(mine, 10).ok(), fault == Fault::none);
    store_.fault = [] { return Fault::none; };
    store_.execute_late();
    for (int call = 0; call < 5; ++call) EXPECT_TRUE(issued.insert(take(mine, 1).value().first).second);
  }
  EXPECT_EQ(mine->metrics().burnt, 30u);
  EXPECT_EQ(mine->metrics().refused, 3u);
}

TEST_F(CounterTest, DoesNotRepeatWhatTheStoreHasForgotten) {
  const auto mine = counter(Counter::largest_last, 1'000);
  take(mine, 10);
  const Versioned earlier = store_.now;
  EXPECT_EQ(take(mine, 10).value(), (Numbers{11, 21}));
  store_.lose_all_since(earlier);
  EXPECT_EQ(take(mine, 10).value(), (Numbers{1'021, 1'031})) << "above the floor of 20, and a gap";
  EXPECT_EQ(mine->metrics().went_back, 1u);
  EXPECT_EQ(mine->metrics().burnt, 10u);
  EXPECT_EQ(take(counter(), 1).value(), (Numbers{1'031, 1'032})) << "the store is mended for everybody";
}

TEST_F(CounterTest, NoticesThatTheStoreWasEmptied) {
  const auto mine = counter(Counter::largest_last, 0);
  take(mine, 500);
  store_.lose_all_since({});
  EXPECT_EQ(take(mine, 1).value(), (Numbers{501, 502}));
}

TEST_F(CounterTest, DoesNotTakeAnAnswerThatIsOvertakenForALoss) {
  const auto mine = counter();
  store_.holds_answers = true;
  std::optional<Answer<Numbers>> first;
  std::optional<Answer<Numbers>> second;
  take_numbers(mine, source_, 1, 1).start([&](Answer<Numbers> answer) { first.emplace(std::move(answer)); });
  auto later = take_numbers(mine, source_, 1, 1);
  std::move(later).start([&](Answer<Numbers> answer) { second.emplace(std::move(answer)); });
  mine->raise_floor(2);  // as if the second answer had been heard first
  while (store_.answer_one()) {
  }
  EXPECT_EQ(first->value(), (Numbers{1, 2}));
  EXPECT_EQ(second->value(), (Numbers{2, 3}));
  EXPECT_EQ(mine->metrics().went_back, 0u);
}

/// What a hundred numbers of one process come to if the store loses what it has acknowledged every now and then.
template <class Next>
std::size_t repeated(FakeStore& store, Next next) {
  std::mt19937 random(1);
  std::set<std::int64_t> issued;
  std::size_t repeated = 0;
  Versioned earlier = store.now;
  for (int call = 0; call < 1'000; ++call) {
    if (random() % 50 == 0) earlier = store.now;
    if (random() % 50 == 0) store.lose_all_since(earlier);
    if (!issued.insert(next()).second) ++repeated;
  }
  return repeated;
}

TEST_F(CounterTest, IsUniqueWithinAProcessWhateverTheStoreLoses) {
  const auto mine = counter();
  EXPECT_EQ(repeated(store_, [&] { return take(mine, 1).value().first; }), 0u);
  EXPECT_GT(mine->metrics().went_back, 5u);
}

// Negative control: the usual way to do it.
TEST_F(CounterTest, WouldRepeatNumbersIfItIncrementedAndForgot) {
  EXPECT_GT(repeated(store_, [&] { return store_.add(1).value(); }), 50u);
}

}  // namespace
}  // namespace holdfast::ids
