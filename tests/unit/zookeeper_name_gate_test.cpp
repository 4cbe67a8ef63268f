#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/zookeeper/flow.hpp"
#include "backends/zookeeper/name_gate.hpp"

namespace holdfast::zookeeper {
namespace {

class ZookeeperNameGate : public testing::Test {
 protected:
  using Order = std::vector<int>;

  /// Enters, and stays until it is let out.
  Detached enter(int number, std::string name) {
    NameGate::Place place = gate_.enter(std::move(name));
    co_await place;
    inside_.push_back(number);
    Stay stay{*this, number};
    co_await stay;
  }
  void let_out(int number) { stays_.at(static_cast<std::size_t>(number)).resume(); }

  /// Enters, and leaves at once.
  Detached pass(int number, std::string name) {
    NameGate::Place place = gate_.enter(std::move(name));
    co_await place;
    inside_.push_back(number);
  }

  NameGate gate_;
  Order inside_;

 private:
  struct Stay {
    ZookeeperNameGate& test;
    int number;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
      test.stays_.resize(std::max(test.stays_.size(), static_cast<std::size_t>(number) + 1));
      test.stays_[static_cast<std::size_t>(number)] = handle;
    }
    void await_resume() const noexcept {}
  };
  std::vector<std::coroutine_handle<>> stays_;
};

TEST_F(ZookeeperNameGate, OneAtATimeInTheirOrder) {
  enter(0, "name");
  enter(1, "name");
  enter(2, "name");
  EXPECT_EQ(inside_, Order({0}));
  EXPECT_FALSE(gate_.is_free("name"));
  let_out(0);
  EXPECT_EQ(inside_, Order({0, 1}));
  let_out(1);
  let_out(2);
  EXPECT_EQ(inside_, Order({0, 1, 2}));
  EXPECT_TRUE(gate_.is_free("name"));
}

TEST_F(ZookeeperNameGate, OtherNamesDoNotWait) {
  enter(0, "name");
  enter(1, "other");
  EXPECT_EQ(inside_, Order({0, 1}));
  let_out(0);
  let_out(1);
}

TEST_F(ZookeeperNameGate, WhoLeavesEarlyLetsTheNextOneIn) {
  std::optional<NameGate::Place> first(gate_.enter("name"));
  ASSERT_TRUE(first->await_ready());
  pass(1, "name");
  EXPECT_EQ(inside_, Order());
  first->leave();
  EXPECT_EQ(inside_, Order({1}));
  first.reset();  // nothing is left twice
  EXPECT_TRUE(gate_.is_free("name"));
}

TEST_F(ZookeeperNameGate, WhoGivesUpItsPlaceIsPassed) {
  std::optional<NameGate::Place> first(gate_.enter("name"));
  std::optional<NameGate::Place> second(gate_.enter("name"));
  pass(3, "name");
  EXPECT_FALSE(second->await_ready());
  second.reset();
  EXPECT_EQ(inside_, Order()) << "the first is still inside";
  first.reset();
  EXPECT_EQ(inside_, Order({3}));
}

/// Each lets the next one in when it leaves: that must not be one call inside the other.
TEST_F(ZookeeperNameGate, AHundredThousandPassWithoutAStackOfThem) {
  constexpr int crowd = 100'000;
  std::optional<NameGate::Place> first(gate_.enter("name"));
  for (int i = 0; i < crowd; ++i) pass(i, "name");
  first.reset();
  ASSERT_EQ(inside_.size(), static_cast<std::size_t>(crowd));
  EXPECT_TRUE(std::is_sorted(inside_.begin(), inside_.end()));
}

}  // namespace
}  // namespace holdfast::zookeeper
