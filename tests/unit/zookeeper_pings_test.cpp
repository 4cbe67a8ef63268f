#include <gtest/gtest.h>

#include <chrono>

#include "backends/zookeeper/pings.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using base::Instant;

constexpr Instant start = Instant() + 1h;

TEST(ZookeeperPings, AreSentTwentyTimesPerTimeout) {
  Pings pings;
  pings.reset(10s);
  Instant now = start;
  int sent = 0;
  while (now < start + 10s) {
    ASSERT_EQ(pings.next(now, false), Pings::Next::send);
    pings.sent(now);
    ++sent;
    now = pings.due_after(now);
  }
  EXPECT_EQ(sent, 20);
}

TEST(ZookeeperPings, AreNotSentWhileOneIsUnanswered) {
  Pings pings;
  pings.reset(8s);
  pings.sent(start);
  EXPECT_EQ(pings.next(start + 1ms, true), Pings::Next::wait);
  EXPECT_EQ(pings.next(start + 999ms, true), Pings::Next::wait);
  EXPECT_EQ(pings.next(start + 999ms, false), Pings::Next::send);
}

TEST(ZookeeperPings, LeaveAServerThatIsSilentForAnEighthOfTheTimeout) {
  Pings pings;
  pings.reset(8s);
  pings.sent(start);
  EXPECT_EQ(pings.next(start + 1s, true), Pings::Next::leave_server);
}

TEST(ZookeeperPings, GiveAServerATenthOfASecondHoweverShortTheTimeout) {
  Pings pings;
  pings.reset(200ms);
  pings.sent(start);
  EXPECT_EQ(pings.next(start + 99ms, true), Pings::Next::wait);
  EXPECT_EQ(pings.next(start + 100ms, true), Pings::Next::leave_server);
}

}  // namespace
}  // namespace holdfast::zookeeper
