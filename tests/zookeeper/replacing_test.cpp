// A claim that takes the place of another one of its client. If the name of its new node shows that nobody else is in
// the line, it does not look; so here is everybody who may be there.

#include <gtest/gtest.h>

#include <string>

#include "spi/backend_under_test.hpp"
#include "zookeeper/hand.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using spi_suite::BackendUnderTest;
using spi_suite::granted;
using spi_suite::permits;
using spi_suite::shared;
using spi_suite::waiting;
using spi_suite::WhenBusy;

class ZookeeperReplacing : public testing::Test {
 protected:
  std::string url() const { return server().url() + "?prefix=" + prefix_; }
  std::string newest() { return line_ + "/" + hand_.children(line_).back(); }
  static long long requests() { return server().monitored("zk_packets_received"); }

 private:
  const std::string prefix_ = new_prefix();

 protected:
  const std::string line_ = "/" + prefix_ + "/name";
  Hand hand_{server().port()};
  BackendUnderTest client_{url()};
};

TEST_F(ZookeeperReplacing, IsOneRequestWhileNobodyElseComes) {
  constexpr int rounds = 200;
  client_.acquire(0);
  const long long before = requests();
  ASSERT_GE(before, 0);
  for (int round = 1; round <= rounds; ++round) {
    ASSERT_EQ(client_.acquire(round, {.replaces = round - 1}).standing, granted);
  }
  const long long sent = requests() - before;
  EXPECT_GE(sent, rounds) << "the control";
  EXPECT_LE(sent, rounds + rounds / 10) << "beside what is asked from time to time";
  EXPECT_EQ(hand_.children(line_).size(), 1U);
}

TEST_F(ZookeeperReplacing, HasTheNumberOfItsNode) {
  client_.acquire(1);
  auto answer = client_.acquire(2, {.replaces = 1});
  EXPECT_EQ(answer.number, hand_.created_in(newest()));
  hand_.remove(line_ + "/" + hand_.join(line_));
  answer = client_.acquire(3, {.replaces = 2});
  EXPECT_EQ(answer.number, hand_.created_in(newest())) << "not the name it had foreseen";
  answer = client_.acquire(4, {.mode = shared, .replaces = 3});
  EXPECT_EQ(answer.number, hand_.created_in(newest()));
  answer = client_.acquire(5, {.mode = shared, .replaces = 4});
  EXPECT_EQ(answer.number, hand_.created_in(newest())) << "where nothing can be foreseen";
}

TEST_F(ZookeeperReplacing, WaitsBehindAStrangerWhoCameBetween) {
  client_.acquire(1);
  const std::string stranger = hand_.join(line_);
  const auto answer = client_.acquire(2, {.replaces = 1});
  EXPECT_EQ(answer.standing, waiting);
  EXPECT_EQ(answer.place, 1U);
  EXPECT_EQ(answer.number, hand_.created_in(newest()));
  EXPECT_EQ(client_.look(2).standing, waiting);
  hand_.remove(line_ + "/" + stranger);
  EXPECT_TRUE(client_.is_told_granted(2));
}

TEST_F(ZookeeperReplacing, IsRefusedIfAStrangerCameBetween) {
  client_.acquire(1);
  hand_.join(line_);
  EXPECT_EQ(client_.acquire(2, {.when_busy = WhenBusy::refuse, .replaces = 1}).standing, spi_suite::absent);
  EXPECT_EQ(hand_.children(line_).size(), 1U) << "the stranger's";
}

TEST_F(ZookeeperReplacing, TakesItsTurnAfterAStrangerWhoCameAndWent) {
  client_.acquire(1);
  hand_.remove(line_ + "/" + hand_.join(line_));
  EXPECT_EQ(client_.acquire(2, {.replaces = 1}).standing, granted);
  EXPECT_EQ(client_.acquire(3, {.when_busy = WhenBusy::refuse, .replaces = 2}).standing, granted);
  EXPECT_EQ(hand_.children(line_).size(), 1U);
}

TEST_F(ZookeeperReplacing, WaitsWhereTheOneBeforeItWaited) {
  BackendUnderTest holder(url());
  holder.acquire(1);
  client_.acquire(2);
  EXPECT_EQ(client_.acquire(3, {.replaces = 2}).standing, waiting) << "although its number is the next";
  holder.release(1);
  EXPECT_TRUE(client_.is_told_granted(3));
  EXPECT_EQ(client_.acquire(4, {.replaces = 3}).standing, granted);
}

TEST_F(ZookeeperReplacing, AWriterWaitsForTheOtherReaders) {
  BackendUnderTest reader(url());
  reader.acquire(1, {.mode = shared});
  client_.acquire(2, {.mode = shared});
  EXPECT_EQ(client_.acquire(3, {.replaces = 2}).standing, waiting) << "although its number is the next";
  reader.release(1);
  EXPECT_TRUE(client_.is_told_granted(3));
}

TEST_F(ZookeeperReplacing, AWriterThatLetReadersInWaitsForThem) {
  BackendUnderTest reader(url());
  client_.acquire(1);
  EXPECT_EQ(client_.downgrade(1).standing, granted);
  EXPECT_EQ(reader.acquire(2, {.mode = shared}).standing, granted);
  EXPECT_EQ(client_.acquire(3, {.replaces = 1}).standing, waiting);
  EXPECT_EQ(hand_.children(line_).size(), 2U) << "the mark has gone, too";
}

TEST_F(ZookeeperReplacing, AReaderLetsOthersIn) {
  BackendUnderTest reader(url());
  client_.acquire(1);
  EXPECT_EQ(client_.acquire(2, {.mode = shared, .replaces = 1}).standing, granted);
  EXPECT_EQ(reader.acquire(3, {.mode = shared}).standing, granted);
  EXPECT_EQ(reader.acquire(4).standing, waiting);
}

TEST_F(ZookeeperReplacing, ANumberOfAnotherLineProvesNothing) {
  BackendUnderTest other(url());
  ASSERT_EQ(other.acquire(1, {.mode = permits(1, 1)}).standing, granted);
  client_.acquire(2);
  EXPECT_EQ(client_.acquire(3, {.mode = permits(1, 1), .replaces = 2}).standing, waiting);
}

TEST_F(ZookeeperReplacing, ALineThatWasMadeAgainIsReadAgain) {
  client_.acquire(1);
  hand_.remove(newest());
  hand_.remove(line_);
  hand_.create(line_);
  const std::string stranger = hand_.join(line_);
  EXPECT_EQ(client_.acquire(2, {.replaces = 1}).standing, waiting) << "although its number is the next";
  hand_.remove(line_ + "/" + stranger);
  EXPECT_TRUE(client_.is_told_granted(2));
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
