// What clients are told without asking; and the numbers of grants.

#include <gtest/gtest.h>

#include <vector>

#include "spi/stores.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {
namespace {

TEST_P(Events, TellTheNextClientThatItHolds) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1);
  const ClaimAnswer wait = second.acquire(2, {.lease = 60s});
  first.release(1);
  const auto told = second.told_of(Told::Of::a_grant, 2);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->name, "name");
  EXPECT_GE(told->answer.number, wait.number) << "so that late pushes can be told from true ones";
  EXPECT_GE(told->answer.lease, 1ms);
  EXPECT_LE(told->answer.lease, 60s) << "a push extends nothing";
  const ClaimAnswer answer = second.look(2);
  EXPECT_EQ(answer.standing, granted);
  EXPECT_EQ(answer.number, told->answer.number);
  EXPECT_TRUE(first.told().empty());
}

TEST_P(Events, TellClientsWhoseTurnComesByAnEviction) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  BackendUnderTest operator_(url());
  holder.acquire(1);
  next.acquire(2);
  EXPECT_EQ(operator_.evict(), 1U);
  EXPECT_TRUE(holder.is_told_to_check(1));
  EXPECT_EQ(holder.look(1).standing, absent);
  EXPECT_TRUE(next.is_told_granted(2));
}

TEST_P(Events, TellHoldersThatAreAskedToRelease) {
  BackendUnderTest holder(url());
  BackendUnderTest other(url());
  holder.acquire(1);
  other.acquire(2);
  EXPECT_EQ(other.ask_to_release("name", {.reason = "deploying"}), 1U);
  EXPECT_TRUE(holder.is_told_to_check(1));
  ASSERT_TRUE(holder.look(1).asked_to_release);
  EXPECT_EQ(holder.look(1).asked_to_release->reason, "deploying");
}

TEST_P(Events, TellASingleClientEverything) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.acquire(2);
  client.ask_to_release("name", {.reason = "why not"});
  EXPECT_TRUE(client.is_told_to_check(1));
  client.evict();
  EXPECT_TRUE(client.is_told_granted(2));
}

TEST_P(Events, ReachManyWaitersAtOnce) {
  BackendUnderTest writer(url());
  std::vector<std::unique_ptr<BackendUnderTest>> readers;
  writer.acquire(0);
  for (int claim = 1; claim <= 8; ++claim) {
    readers.push_back(std::make_unique<BackendUnderTest>(url()));
    readers.back()->acquire(claim, {.mode = shared});
    readers.back()->acquire(claim + 100, {.mode = shared});
  }
  writer.release(0);
  for (int claim = 1; claim <= 8; ++claim) {
    EXPECT_TRUE(readers[static_cast<std::size_t>(claim) - 1]->is_told_granted(claim));
    EXPECT_TRUE(readers[static_cast<std::size_t>(claim) - 1]->is_told_granted(claim + 100));
  }
}

TEST_P(Events, LeadThroughALongRelay) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  constexpr int rounds = 100;
  first.acquire(0);
  for (int round = 0; round < rounds; ++round) {
    BackendUnderTest& holder = round % 2 == 0 ? first : second;
    BackendUnderTest& next = round % 2 == 0 ? second : first;
    ASSERT_EQ(next.acquire(round + 1).standing, waiting);
    ASSERT_TRUE(holder.release(round));
    ASSERT_TRUE(next.is_told_granted(round + 1)) << round;
  }
}

// --- numbers --------------------------------------------------------------------------------------------------------

TEST_P(GrantNumbers, RiseOverEverything) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  std::vector<std::uint64_t> numbers;
  const auto hold = [&](const ClaimAnswer& answer) {
    ASSERT_EQ(answer.standing, granted);
    numbers.push_back(answer.number);
  };
  hold(first.acquire(1));
  first.release(1);
  hold(second.acquire(2));
  second.evict();
  hold(first.acquire(3, {.mode = shared}));
  hold(second.acquire(4, {.mode = shared}));
  first.acquire(5);
  first.release(3);
  second.release(4);
  hold(first.look(5));
  second.acquire(6, {.mode = shared});
  first.acquire(7, {.mode = shared});
  first.downgrade(5);
  hold(second.look(6));
  hold(first.look(7));
  hold(second.acquire(8, {.mode = shared, .replaces = 6}));
  for (const int claim : {5, 7}) first.release(claim);
  second.release(8);
  hold(first.acquire(9, {.lease = 100ms}));
  second.acquire(10);
  let_lapse(first, 9);
  EXPECT_TRUE(test::eventually([&] { return second.look(10).standing == granted; }));
  hold(second.look(10));
  second.release(10);
  hold(first.acquire(11, {.mode = permits(1, 2)}));
  hold(second.acquire(12, {.mode = permits(1, 2)}));
  first.evict("name", LockKind::semaphore);
  hold(first.acquire(1));
  for (std::size_t i = 1; i < numbers.size(); ++i) EXPECT_GT(numbers[i], numbers[i - 1]) << i;
  EXPECT_LT(numbers.back(), std::uint64_t{1} << 56U);
}

TEST_P(GrantNumbers, RiseWhenManyAreGrantedAtOnce) {
  BackendUnderTest client(url());
  client.acquire(0);
  for (int claim = 1; claim <= 50; ++claim) client.acquire(claim, {.mode = shared});
  client.release(0);
  std::uint64_t last = 0;
  for (int claim = 1; claim <= 50; ++claim) {
    const std::uint64_t number = client.look(claim).number;
    EXPECT_GT(number, last);
    last = number;
  }
}

TEST_P(GrantNumbers, AreNeverBelowWhatAWaiterWasTold) {
  BackendUnderTest client(url());
  client.acquire(1);
  std::uint64_t told = client.acquire(2).number;
  for (int i = 0; i < 20; ++i) {
    client.acquire(10 + i, {.name = "elsewhere"});
    const std::uint64_t again = client.look(2).number;
    EXPECT_GE(again, told);
    told = again;
  }
  client.release(1);
  EXPECT_GE(client.look(2).number, told);
}

TEST_P(GrantNumbers, RiseBetweenClientsThatHurry) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  std::uint64_t last = 0;
  for (int i = 0; i < 300; ++i) {
    BackendUnderTest& client = i % 2 == 0 ? first : second;
    const ClaimAnswer answer = client.acquire(i);
    ASSERT_EQ(answer.standing, granted);
    ASSERT_GT(answer.number, last);
    last = answer.number;
    ASSERT_TRUE(client.release(i));
  }
}

}  // namespace
}  // namespace holdfast::spi_suite
