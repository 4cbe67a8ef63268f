#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/redis/layouts/batch.hpp"
#include "unit/redis_fake_topology.hpp"

namespace holdfast::redis {
namespace {

using Strings = Batch<std::string>;

class RedisBatch : public testing::Test {
 protected:
  void send(const std::vector<std::string>& keys) {
    Strings::send(
        topology_, keys.size(), [&](std::size_t place) { return std::string_view(keys[place]); },
        [&](const Strings::Places& places, Strings::Done done) {
          std::vector<std::string>& asked = asked_.emplace_back();
          for (const std::size_t place : places) asked.push_back(keys[place]);
          dones_.push_back(std::move(done));
        },
        [&](spi::Result<std::vector<std::string>> result) { result_ = std::move(result); });
  }

  test::FakeTopology topology_;
  std::vector<std::vector<std::string>> asked_;
  std::vector<Strings::Done> dones_;
  std::optional<spi::Result<std::vector<std::string>>> result_;
};

TEST_F(RedisBatch, IsOneRequestWhereAllKeysMayBeTogether) {
  send({"{01}a", "{01}b"});
  ASSERT_EQ(asked_, (std::vector<std::vector<std::string>>{{"{01}a", "{01}b"}}));
  dones_[0](std::vector<std::string>{"A", "B"});
  ASSERT_TRUE(result_ && result_->ok());
  EXPECT_EQ(result_->value(), (std::vector<std::string>{"A", "B"}));
}

TEST_F(RedisBatch, IsSplitAndAnsweredInTheOrderOfTheNames) {
  send({"{02}a", "{01}b", "{02}c"});
  ASSERT_EQ(asked_, (std::vector<std::vector<std::string>>{{"{01}b"}, {"{02}a", "{02}c"}}));
  dones_[1](std::vector<std::string>{"A", "C"});
  EXPECT_FALSE(result_) << "not before all of it was answered";
  dones_[0](std::vector<std::string>{"B"});
  ASSERT_TRUE(result_ && result_->ok());
  EXPECT_EQ(result_->value(), (std::vector<std::string>{"A", "B", "C"}));
}

TEST_F(RedisBatch, FailsOnceIfOneOfItsRequestsFails) {
  send({"{01}a", "{02}b"});
  dones_[0](spi::Failure{Errc::in_doubt, "silence"});
  EXPECT_FALSE(result_);
  dones_[1](std::vector<std::string>{"B"});
  ASSERT_TRUE(result_ && !result_->ok());
  EXPECT_EQ(result_->failure().code, Errc::in_doubt);
}

}  // namespace
}  // namespace holdfast::redis
