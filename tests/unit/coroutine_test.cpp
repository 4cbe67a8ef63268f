#include "base/coroutine.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/future.hpp"

namespace holdfast::base {
namespace {

/// Says when it is destroyed.
struct Witness {
  explicit Witness(bool& gone) : gone(&gone) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { *gone = true; }
  bool* gone;
};

Coroutine<int> awaiting(Future<int> future) {
  const int answer = co_await future;
  co_return answer;
}

Coroutine<int> sum_of(Coroutine<int> first, Coroutine<int> second) {
  const int one = co_await first;
  const int other = co_await second;
  co_return one + other;
}

TEST(Coroutine, DoesNothingBeforeItIsStarted) {
  bool begun = false;
  const auto beginning = [&]() -> Coroutine<int> {
    begun = true;
    co_return 1;
  };
  {
    const Coroutine<int> dropped = beginning();
  }
  EXPECT_FALSE(begun);
  std::optional<int> result;
  beginning().start([&](int its) { result = its; });
  EXPECT_EQ(result, 1);
}

TEST(Coroutine, TellsItsResultAfterItHasGone) {
  bool gone = false;
  bool was_gone = false;
  const Future<int> answer;
  const auto working = [](Future<int> what, bool& its_end) -> Coroutine<int> {
    const Witness witness(its_end);
    const int heard = co_await what;
    co_return heard;
  };
  working(answer, gone).start([&](int) { was_gone = gone; });
  EXPECT_FALSE(gone);
  answer.answer(1);
  EXPECT_TRUE(was_gone);
}

TEST(Coroutine, MayBeStartedThoughNobodyWantsItsResult) {
  bool gone = false;
  const Future<int> answer;
  const auto working = [](Future<int> what, bool& its_end) -> Coroutine<int> {
    const Witness witness(its_end);
    const int heard = co_await what;
    co_return heard;
  };
  working(answer, gone).start();
  EXPECT_FALSE(gone);
  answer.answer(1);
  EXPECT_TRUE(gone);
}

TEST(Coroutine, AwaitsOthersOneAfterTheOther) {
  const Future<int> first;
  const Future<int> second;
  std::optional<int> sum;
  sum_of(awaiting(first), awaiting(second)).start([&](int its) { sum = its; });
  second.answer(2);
  EXPECT_FALSE(sum);
  first.answer(1);
  EXPECT_EQ(sum, 3);
}

TEST(Future, IsAnsweredBeforeOrAfterItIsAwaited) {
  const Future<int> early;
  early.answer(1);
  EXPECT_TRUE(early.is_answered());
  std::optional<int> heard;
  awaiting(early).start([&](int its) { heard = its; });
  EXPECT_EQ(heard, 1);

  const Future<int> late;
  awaiting(late).start([&](int its) { heard = its; });
  EXPECT_FALSE(late.is_answered());
  EXPECT_EQ(heard, 1);
  late.answer(2);
  EXPECT_EQ(heard, 2);
}

TEST(Future, NeedsNobodyToAwaitIt) {
  const auto value = std::make_shared<int>(1);
  {
    const Future<std::shared_ptr<int>> forgotten;
    forgotten.answer(value);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(Future, MayGoWhileWhoeverAwaitedItGoesOn) {
  auto owned = std::make_unique<Future<int>>();
  std::optional<int> heard;
  awaiting(*owned).start([&](int its) {
    owned.reset();
    heard = its;
  });
  owned->answer(3);
  EXPECT_EQ(heard, 3);
}

TEST(Future, OfStartedWorkBeginsItAtOnce) {
  std::vector<std::string> done;
  const Future<int> pause;
  const auto working = [&done](Future<int> until) -> Coroutine<int> {
    done.emplace_back("begun");
    const int heard = co_await until;
    done.emplace_back("ended");
    co_return heard;
  };
  const Future<int> work = started(working(pause));
  EXPECT_EQ(done, std::vector<std::string>{"begun"});
  EXPECT_FALSE(work.is_answered());
  pause.answer(4);
  EXPECT_EQ(done.size(), 2U);
  EXPECT_TRUE(work.is_answered());
  std::optional<int> heard;
  awaiting(work).start([&](int its) { heard = its; });
  EXPECT_EQ(heard, 4);
}

}  // namespace
}  // namespace holdfast::base
