#include <gtest/gtest.h>

#include <chrono>

#include "backends/zookeeper/lease_proof.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr base::Instant start = base::Instant(std::chrono::hours(1));
constexpr base::Duration timeout = 12s;  // so that a third of it is 4 s

class ZookeeperLeaseProof : public testing::Test {
 protected:
  ZookeeperLeaseProof() {
    proof_.reset(timeout);
    proof_.opened(start);
  }
  base::Duration since() const { return proof_.since() - start; }

  LeaseProof proof_;
};

TEST_F(ZookeeperLeaseProof, BeginsWithTheSession) { EXPECT_EQ(since(), 0s); }

TEST_F(ZookeeperLeaseProof, AnAnswerAloneProvesNothing) {
  for (auto sent = 1s; sent < 60s; sent += 1s) proof_.answered(start + sent);
  EXPECT_EQ(since(), 0s);
}

TEST_F(ZookeeperLeaseProof, AWriteAloneProvesNothing) {
  for (auto sent = 1s; sent < 60s; sent += 1s) proof_.committed(start + sent);
  EXPECT_EQ(since(), 0s);
}

TEST_F(ZookeeperLeaseProof, AWriteProvesWhatWasAnsweredAThirdOfTheTimeoutBefore) {
  proof_.answered(start + 10s);
  proof_.committed(start + 14s - 1ns);
  EXPECT_EQ(since(), 0s) << "too soon";
  proof_.committed(start + 14s);
  EXPECT_EQ(since(), 10s);
}

TEST_F(ZookeeperLeaseProof, TheNewestThatIsOldEnoughCounts) {
  for (auto sent = 1s; sent <= 20s; sent += 1s) proof_.answered(start + sent);
  proof_.committed(start + 20s);
  EXPECT_EQ(since(), 16s);
  proof_.committed(start + 21s);
  EXPECT_EQ(since(), 17s);
}

TEST_F(ZookeeperLeaseProof, NeverGoesBack) {
  proof_.answered(start + 10s);
  proof_.committed(start + 20s);
  proof_.committed(start + 15s);
  EXPECT_EQ(since(), 10s);
}

TEST_F(ZookeeperLeaseProof, AnAnswerThatComesLateCountsFromWhenItWasAskedFor) {
  proof_.committed(start + 14s);
  proof_.answered(start + 10s);
  EXPECT_EQ(since(), 0s) << "not when the write was told";
  proof_.committed(start + 15s);
  EXPECT_EQ(since(), 10s);
}

TEST_F(ZookeeperLeaseProof, AnotherServerHasAskedTheLeaderSoTheNextWriteProvesThat) {
  proof_.answered(start + 10s);
  proof_.resumed(start + 12s, start + 13s);
  proof_.committed(start + 13s - 1ns);
  EXPECT_EQ(since(), 0s) << "sent before it was connected";
  proof_.committed(start + 13s);
  EXPECT_EQ(since(), 12s);
}

TEST_F(ZookeeperLeaseProof, AnswersAreThinnedOutButNotByMuch) {
  for (auto sent = 0ms; sent <= 60s; sent += 1ms) proof_.answered(start + sent);
  proof_.committed(start + 60s);
  EXPECT_LE(since(), 56s);
  EXPECT_GE(since(), 56s - timeout / 24);
}

}  // namespace
}  // namespace holdfast::zookeeper
