#include "kit/request_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spi/operation.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::kit {
namespace {

constexpr spi::ClaimId older = {1, 1};
constexpr spi::ClaimId another = {2, 2};

/// Requests with numbers, and the order in which they came to be the first of their queue.
class Requests : public testing::Test {
 protected:
  using Order = std::vector<int>;

  /// Begins when it may, and goes on until finish().
  void begin(int number, RequestOrder::Place place) {
    lasting(number, std::move(place)).start([](const auto&) {});
  }
  void finish(int number) { unfinished_.at(static_cast<std::size_t>(number)).resume(); }

  /// Begins when it may, and ends at once.
  void pass(int number, RequestOrder::Place place) {
    passing(number, std::move(place)).start([](const auto&) {});
  }

  test::ManualLoop loop_;
  Order begun_;

 private:
  struct UntilFinished {
    Requests& test;
    int number;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
      test.unfinished_.resize(std::max(test.unfinished_.size(), static_cast<std::size_t>(number) + 1));
      test.unfinished_[static_cast<std::size_t>(number)] = handle;
    }
    void await_resume() const noexcept {}
  };

  spi::Operation<spi::Nothing> lasting(int number, RequestOrder::Place place) {
    co_await place;
    begun_.push_back(number);
    UntilFinished until_finished{*this, number};
    co_await until_finished;
    co_return spi::Nothing{};
  }
  spi::Operation<spi::Nothing> passing(int number, RequestOrder::Place place) {
    co_await place;
    begun_.push_back(number);
    co_return spi::Nothing{};
  }

  std::vector<std::coroutine_handle<>> unfinished_;
};

class RequestOrderAtOnce : public Requests {
 protected:
  RequestOrder order_;
};

TEST_F(RequestOrderAtOnce, OneAtATimeInTheirOrder) {
  begin(0, order_.enter("name"));
  begin(1, order_.enter("name"));
  begin(2, order_.enter("name"));
  EXPECT_EQ(begun_, Order({0}));
  EXPECT_FALSE(order_.is_free("name"));
  finish(0);
  EXPECT_EQ(begun_, Order({0, 1}));
  finish(1);
  finish(2);
  EXPECT_EQ(begun_, Order({0, 1, 2}));
  EXPECT_TRUE(order_.is_free("name"));
}

TEST_F(RequestOrderAtOnce, OtherNamesDoNotWait) {
  begin(0, order_.enter("name"));
  begin(1, order_.enter("other"));
  EXPECT_EQ(begun_, Order({0, 1}));
  finish(0);
  finish(1);
}

TEST_F(RequestOrderAtOnce, WhoLeavesEarlyLetsTheNextOneBegin) {
  std::optional<RequestOrder::Place> first(order_.enter("name"));
  ASSERT_TRUE(first->await_ready());
  pass(1, order_.enter("name"));
  EXPECT_EQ(begun_, Order());
  first->leave();
  EXPECT_EQ(begun_, Order({1}));
  first.reset();  // nothing is left twice
  EXPECT_TRUE(order_.is_free("name"));
}

TEST_F(RequestOrderAtOnce, WhoGivesUpItsPlaceIsPassed) {
  std::optional<RequestOrder::Place> first(order_.enter("name"));
  std::optional<RequestOrder::Place> second(order_.enter("name"));
  pass(3, order_.enter("name"));
  EXPECT_FALSE(second->await_ready());
  second.reset();
  EXPECT_EQ(begun_, Order()) << "the first has not left yet";
  first.reset();
  EXPECT_EQ(begun_, Order({3}));
}

/// Each resumes the next one when it leaves: that must not be one call inside the other.
TEST_F(RequestOrderAtOnce, AHundredThousandPassWithoutAStackOfThem) {
  constexpr int crowd = 100'000;
  std::optional<RequestOrder::Place> first(order_.enter("name"));
  for (int i = 0; i < crowd; ++i) pass(i, order_.enter("name"));
  first.reset();
  ASSERT_EQ(begun_.size(), static_cast<std::size_t>(crowd));
  EXPECT_TRUE(std::is_sorted(begun_.begin(), begun_.end()));
}

class RequestOrderThroughTheLoop : public Requests {
 protected:
  std::unique_ptr<RequestOrder> order_ = std::make_unique<RequestOrder>(loop_);
};

TEST_F(RequestOrderThroughTheLoop, OneAfterTheOther) {
  std::optional first(order_->enter("name"));
  pass(1, order_->enter("name"));
  pass(2, order_->enter("other"));
  EXPECT_EQ(begun_, Order({2}));
  first.reset();
  EXPECT_EQ(begun_, Order({2})) << "not from inside whoever leaves";
  loop_.run();
  EXPECT_EQ(begun_, Order({2, 1}));
}

TEST_F(RequestOrderThroughTheLoop, MayBeClosedAndDestroyedBeforeTheNextOneHasBegun) {
  std::optional first(order_->enter("name"));
  pass(1, order_->enter("name"));
  first.reset();
  order_->close();
  EXPECT_EQ(begun_, Order({1})) << "nobody waits any more";
  order_.reset();
  loop_.run();
}

TEST_F(RequestOrderThroughTheLoop, NobodyWaitsOnceItIsClosed) {
  std::optional first(order_->enter("name"));
  pass(1, order_->enter("name"));
  pass(2, order_->enter("name"));
  order_->close();
  EXPECT_EQ(begun_, Order({1, 2}));
  pass(3, order_->enter("name"));
  EXPECT_EQ(begun_, Order({1, 2, 3}));
  first.reset();
  loop_.run();
  EXPECT_EQ(begun_, Order({1, 2, 3}));
}

TEST_F(RequestOrderThroughTheLoop, AReplacementDoesNotWaitForTheReleaseOfWhatItReplaces) {
  begin(0, order_->enter_to_release("name", older));
  begin(1, order_->enter_to_replace("name", older));
  begin(2, order_->enter("name"));
  EXPECT_EQ(begun_, Order({0, 1}));
  finish(0);
  loop_.run();
  EXPECT_EQ(begun_, Order({0, 1})) << "the replacement has not left yet";
  finish(1);
  loop_.run();
  EXPECT_EQ(begun_, Order({0, 1, 2}));
  finish(2);
}

TEST_F(RequestOrderThroughTheLoop, AReplacementMayEndBeforeTheRelease) {
  begin(0, order_->enter_to_release("name", older));
  begin(1, order_->enter_to_replace("name", older));
  begin(2, order_->enter("name"));
  finish(1);
  loop_.run();
  EXPECT_EQ(begun_, Order({0, 1})) << "the release has not left yet";
  finish(0);
  loop_.run();
  EXPECT_EQ(begun_, Order({0, 1, 2}));
  finish(2);
}

TEST_F(RequestOrderThroughTheLoop, AReplacementWaitsForEverythingElse) {
  begin(0, order_->enter_to_release("name", another));
  begin(1, order_->enter_to_replace("name", older));
  EXPECT_EQ(begun_, Order({0}));
  begin(2, order_->enter_to_release("other", older));
  begin(3, order_->enter("other"));
  begin(4, order_->enter_to_replace("other", older));
  EXPECT_EQ(begun_, Order({0, 2}));
  for (const int number : {0, 2, 1, 3, 4}) {
    finish(number);
    loop_.run();
  }
  EXPECT_EQ(begun_, Order({0, 2, 1, 3, 4}));
}

TEST_F(RequestOrderThroughTheLoop, AReleaseThatHasNotBegunIsWaitedFor) {
  begin(0, order_->enter("name"));
  begin(1, order_->enter_to_release("name", older));
  begin(2, order_->enter_to_replace("name", older));
  EXPECT_EQ(begun_, Order({0}));
  for (const int number : {0, 1, 2}) {
    finish(number);
    loop_.run();
  }
  EXPECT_EQ(begun_, Order({0, 1, 2}));
}

}  // namespace
}  // namespace holdfast::kit
