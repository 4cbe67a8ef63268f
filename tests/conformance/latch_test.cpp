// A gate that opens for good when enough have counted.

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;

TEST_P(LatchConformance, CountsDownOverSeveralClients) {
  Client client = open();
  Client other = open();
  Latch mine(client, "ready", 5);
  Latch theirs(other, "ready", 5);
  EXPECT_EQ(mine.missing(), 5u);
  EXPECT_EQ(mine.count_down(), 4u);
  EXPECT_EQ(theirs.count_down(), 3u);
  EXPECT_EQ(theirs.count_down(2), 1u);
  EXPECT_EQ(mine.missing(), 1u);
  EXPECT_EQ(mine.count_down(), 0u);
  EXPECT_EQ(theirs.missing(), 0u);
  EXPECT_EQ(mine.name(), LockName("ready"));
}

TEST_P(LatchConformance, ThreadsCountExactly) {
  Client clients[] = {open(), open()};
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        Latch latch(clients[number % 2], "ready", 100);
        for (int round = 0; round < 10; ++round) latch.count_down();
      });
    }
  }
  EXPECT_EQ(Latch(clients[0], "ready", 100).missing(), 20u);
}

TEST_P(LatchConformance, ReleasesEverybodyWhoWaits) {
  Client clients[] = {open(), open()};
  std::vector<std::unique_ptr<Background<void>>> waiters;
  for (int number = 0; number < 6; ++number) {
    waiters.push_back(std::make_unique<Background<void>>(
        [&, number](std::stop_token stop) { Latch(clients[number % 2], "ready", 2).wait(stop); }));
  }
  Latch latch(clients[0], "ready", 2);
  latch.count_down();
  EXPECT_FALSE(waiters.front()->finishes(150ms));
  latch.count_down();
  for (const auto& waiter : waiters) EXPECT_EQ(waiter->error(), std::nullopt);
}

TEST_P(SharedStoreConformance, ALatchCountsProcessesEvenDeadOnes) {
  std::vector<ForkedChild> children;
  for (int number = 0; number < 3; ++number) {
    children.emplace_back([&](ChildReport& report) {
      Client client(url());
      Latch latch(client, "ready", 4);
      latch.count_down();
      report.expect(latch.wait_for(30s), "opens in time");
    });
  }
  Client client = open();
  Latch latch(client, "ready", 4);
  ASSERT_TRUE(eventually([&] { return latch.missing() == 1; }));
  children.back().kill();
  EXPECT_FALSE(latch.wait_for(100ms));
  EXPECT_EQ(latch.missing(), 1u) << "what was counted stays counted";
  EXPECT_EQ(latch.count_down(), 0u);
  children.pop_back();
  for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
}

TEST_P(LatchConformance, CountingBelowZeroIsRefusedAndChangesNothing) {
  Client client = open();
  Latch latch(client, "ready", 3);
  EXPECT_EQ(errc_of([&] { latch.count_down(4); }), Errc::invalid_argument);
  EXPECT_EQ(latch.missing(), 3u);
  latch.count_down(2);
  EXPECT_EQ(errc_of([&] { latch.count_down(2); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { latch.count_down(std::numeric_limits<std::uint32_t>::max()); }), Errc::invalid_argument);
  EXPECT_EQ(latch.missing(), 1u);
  latch.count_down();
  EXPECT_EQ(errc_of([&] { latch.count_down(); }), Errc::invalid_argument);
  EXPECT_EQ(latch.missing(), 0u);
}

TEST_P(LatchConformance, DifferentCountsAreDetected) {
  Client client = open();
  Client other = open();
  Latch(client, "ready", 3).count_down();
  Latch latch(other, "ready", 4);
  EXPECT_EQ(errc_of([&] { latch.count_down(); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { latch.missing(); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { latch.wait(); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { latch.wait_for(1s); }), Errc::invalid_argument);
  EXPECT_EQ(Latch(client, "ready", 3).missing(), 2u);
  EXPECT_EQ(errc_of([&] { Latch(client, "ready", 0); }), Errc::invalid_argument);
}

TEST_P(LatchConformance, WhoeverComesLatePassesAtOnce) {
  Client client = open();
  Client other = open();
  Latch(client, "ready", 1).count_down();
  Latch late(other, "ready", 1);
  late.wait();
  EXPECT_TRUE(late.wait_for(0s));
  client.close();
  Client later = open();
  Latch(later, "ready", 1).wait();
}

TEST_P(LatchConformance, AWaitEndsInTime) {
  Client client = open();
  Latch latch(client, "ready", 1);
  EXPECT_FALSE(latch.wait_for(0s));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(latch.wait_for(300ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 290ms);
  EXPECT_EQ(latch.missing(), 1u) << "waiting counts nothing";
}

TEST_P(LatchConformance, AStopOrACloseEndsAWait) {
  Client client = open();
  Latch latch(client, "ready", 1);
  Background stopped([&](std::stop_token stop) { latch.wait(stop); });
  EXPECT_FALSE(stopped.finishes(150ms));
  stopped.cancel();
  EXPECT_EQ(stopped.error(), Errc::cancelled);
  Background closed([&](std::stop_token stop) { latch.wait(stop); });
  EXPECT_FALSE(closed.finishes(150ms));
  client.close();
  EXPECT_EQ(closed.error(), Errc::closed);
  EXPECT_EQ(errc_of([&] { latch.count_down(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { latch.missing(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { latch.wait(); }), Errc::closed);
}

}  // namespace
}  // namespace holdfast::conformance
