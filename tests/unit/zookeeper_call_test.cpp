#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "base/future.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

class ZookeeperCall : public testing::Test {
 protected:
  ZookeeperCall() {
    calls_.ask_why([] { return spi::Failure{Errc::unreachable, "not connected"}; });
  }
  /// Lets the operations end, which otherwise nobody would destroy.
  ~ZookeeperCall() override {
    for (const base::Future<int>& awaited : awaited_) {
      if (!awaited.is_answered()) awaited.answer(0);
    }
  }

  /// An operation that sends something, if `sends`, and then waits for its answer.
  void start(bool sends) {
    calls_.start<int>(
        patience, [this](spi::Result<int> answer) { answers_.push_back(std::move(answer)); },
        [&](CallPtr call) {
          call_ = call;
          return waiting(std::move(call), awaited_.emplace_back(), sends);
        });
  }
  static spi::Operation<int> waiting(CallPtr call, base::Future<int> answer, bool sends) {
    if (sends) call->is_in_doubt();
    const int heard = co_await answer;
    if (call->over()) co_return nobody_waits();
    co_return heard;
  }
  Errc failure() const { return answers_.at(0).failure().code; }

  static constexpr base::Duration patience = 1s;

  test::ManualLoop loop_;
  Calls calls_{loop_, "zookeeper at a:1"};
  CallPtr call_;
  std::vector<base::Future<int>> awaited_;  ///< by each operation
  std::vector<spi::Result<int>> answers_;
};

TEST_F(ZookeeperCall, IsAnsweredWithWhatItsOperationEndsWithButNotInsideOfIt) {
  start(true);
  awaited_.front().answer(7);
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(call_->over());
  loop_.run();
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].value(), 7);
}

TEST_F(ZookeeperCall, IsInDoubtWhenItsPatienceEndsAfterSomethingWasSent) {
  start(true);
  loop_.advance(patience);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(failure(), Errc::in_doubt);
}

TEST_F(ZookeeperCall, SaysWhyNothingCouldBeSentWhenItsPatienceEnds) {
  start(false);
  loop_.advance(patience);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(failure(), Errc::unreachable);
  EXPECT_EQ(answers_[0].failure().detail, "not connected");
}

TEST_F(ZookeeperCall, IsAnsweredOnceThoughItsOperationEndsLater) {
  start(true);
  loop_.advance(patience);
  EXPECT_TRUE(call_->over()) << "the operation sees it";
  awaited_.front().answer(7);
  loop_.advance(patience);
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(ZookeeperCall, IsAnsweredWhenTheClientCloses) {
  start(true);
  start(false);
  calls_.fail_all({Errc::closed, "closed"});
  loop_.run();
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_EQ(answers_[0].failure().code, Errc::closed);
  EXPECT_EQ(answers_[1].failure().code, Errc::closed);
  loop_.advance(patience);
  EXPECT_EQ(answers_.size(), 2U) << "and not again";
}

}  // namespace
}  // namespace holdfast::zookeeper
