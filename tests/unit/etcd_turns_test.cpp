#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/turns.hpp"
#include "spi/operation.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::etcd {
namespace {

class EtcdTurns : public testing::Test {
 protected:
  /// Waits for its turn, notes that it has come, and ends.
  static spi::Operation<spi::Nothing> taking_a_turn(Turns& turns, std::string name, std::vector<std::string>& taken) {
    const Turns::Ticket turn = turns.join(name);
    co_await turn;
    taken.push_back(std::move(name));
    co_return spi::Nothing{};
  }
  void take_a_turn(const std::string& name) {
    taking_a_turn(*turns_, name, taken_).start([](const spi::Result<spi::Nothing>&) {});
  }

  test::ManualLoop loop_;
  std::unique_ptr<Turns> turns_ = std::make_unique<Turns>(loop_);
  std::vector<std::string> taken_;
};

TEST_F(EtcdTurns, ComeOneAfterTheOther) {
  std::optional first(turns_->join("name"));
  take_a_turn("name");
  take_a_turn("other");
  EXPECT_EQ(taken_, std::vector<std::string>{"other"});
  first.reset();
  EXPECT_EQ(taken_.size(), 1U) << "not from inside whoever ends";
  loop_.run();
  EXPECT_EQ(taken_, (std::vector<std::string>{"other", "name"}));
}

TEST_F(EtcdTurns, MayEndBeforeTheNextOneHasBegun) {
  std::optional first(turns_->join("name"));
  take_a_turn("name");
  first.reset();
  turns_->close();
  EXPECT_EQ(taken_.size(), 1U) << "nobody waits any more";
  turns_.reset();
  loop_.run();
}

}  // namespace
}  // namespace holdfast::etcd
