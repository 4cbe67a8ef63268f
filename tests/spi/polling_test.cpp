// What is left of the rules where a store has no line: exclusive claims that look from time to time.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "spi/part_name.hpp"
#include "spi/stores.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {
namespace {

TEST_P(Polling, GrantsAFreeNameAndItsNumbersRise) {
  BackendUnderTest client(url());
  const ClaimAnswer first = client.acquire(1, {.lease = 60s});
  EXPECT_EQ(first.standing, granted);
  EXPECT_GE(first.lease, 60s);
  EXPECT_TRUE(client.release(1));
  EXPECT_FALSE(client.release(1));
  EXPECT_GT(client.acquire(1).number, first.number);
}

TEST_P(Polling, TellsWaitersWhenToAskAgain) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  const ClaimAnswer held = holder.acquire(1, {.lease = 10s});
  milliseconds least = 1h;
  milliseconds most = 0ms;
  for (int round = 0; round < 20; ++round) {
    const ClaimAnswer wait = round == 0 ? next.acquire(2) : next.renew(2);
    ASSERT_EQ(wait.standing, waiting);
    EXPECT_GT(wait.number, held.number) << "no later grant has a smaller one";
    EXPECT_GE(wait.place, 1U);
    least = std::min(least, wait.check_after);
    most = std::max(most, wait.check_after);
  }
  EXPECT_GT(least, 0ms);
  EXPECT_LE(most, 1s);
  EXPECT_LT(least, most) << "chance decides";
  EXPECT_TRUE(next.told().empty());
}

TEST_P(Polling, GrantsToWhoeverAsksFirst) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  const std::uint64_t number = holder.acquire(1).number;
  next.acquire(2);
  next.acquire(3);
  holder.release(1);
  const ClaimAnswer answer = next.renew(3);
  EXPECT_EQ(answer.standing, granted);
  EXPECT_GT(answer.number, number);
  EXPECT_EQ(next.look(3).number, answer.number) << "one grant, one number";
  EXPECT_EQ(next.renew(2).standing, waiting);
  EXPECT_TRUE(next.release(2)) << "it waited";
  EXPECT_EQ(next.renew(2).standing, absent);
}

TEST_P(Polling, LeavesNoTraceOfARefusal) {
  BackendUnderTest client(url());
  client.acquire(1);
  EXPECT_EQ(client.acquire(2, {.when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_EQ(client.look(2).standing, absent);
  EXPECT_FALSE(client.release(2));
  EXPECT_EQ(client.acquire(1, {.when_busy = WhenBusy::refuse}).standing, granted) << "it is not in its own way";
}

TEST_P(Polling, FindsARepeatedClaimWhereItStands) {
  BackendUnderTest client(url());
  const std::uint64_t number = client.acquire(1, {.lease = 60s}).number;
  const ClaimAnswer again = client.acquire(1, {.lease = 120s});
  EXPECT_EQ(again.number, number);
  EXPECT_GE(again.lease, 120s);
  client.acquire(1, {.lease = 1s});
  EXPECT_GT(client.show()->holders.at(0).lease_left, 60s) << "never shortened";
  client.acquire(2);
  EXPECT_EQ(client.acquire(2, {.when_busy = WhenBusy::refuse}).standing, waiting) << "it waits already";
}

TEST_P(Polling, BringsNothingBack) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.renew(1).standing, absent);
  client.acquire(1, {.lease = 100ms});
  client.acquire(2, {.lease = 100ms});
  EXPECT_TRUE(test::eventually([&] { return !client.show(); }));
  EXPECT_EQ(client.renew(1).standing, absent);
  EXPECT_EQ(client.renew(2).standing, absent) << "nor who waited, though it is free";
  EXPECT_FALSE(client.show());
}

TEST_P(Polling, TouchesNoSuccessor) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1, {.lease = 100ms});
  second.acquire(2);
  EXPECT_TRUE(test::eventually([&] { return second.renew(2).standing == granted; }));
  EXPECT_FALSE(first.release(1));
  EXPECT_EQ(first.renew(1).standing, absent);
  EXPECT_EQ(second.look(2).standing, granted);
}

TEST_P(Polling, DoesNotExtendALeaseByAskingOrByAGrant) {
  BackendUnderTest client(url());
  client.acquire(1);
  const ClaimAnswer wait = client.acquire(2, {.lease = 600ms});
  client.release(1);
  ASSERT_EQ(client.look(2).standing, granted);
  EXPECT_LE(client.show()->holders.at(0).lease_left, 600ms);
  EXPECT_TRUE(test::eventually([&] { return client.look(2).standing == absent; }));
  EXPECT_GE(base::BootClock::now(), wait.armed_at + wait.lease);
}

TEST_P(Polling, GivesOthersAChanceWhenAHolderIsReplaced) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1);
  second.acquire(2);
  EXPECT_EQ(first.acquire(3, {.replaces = 1}).standing, waiting);
  EXPECT_EQ(first.look(1).standing, absent);
  EXPECT_EQ(second.renew(2).standing, granted);
  EXPECT_EQ(second.acquire(4, {.when_busy = WhenBusy::refuse, .replaces = 2}).standing, granted)
      << "who will not wait takes what is free";
  EXPECT_EQ(first.acquire(5, {.replaces = 3}).standing, waiting);
  EXPECT_EQ(first.look(3).standing, absent);
}

TEST_P(Polling, RefusesWhatItHasNot) {
  BackendUnderTest client(url());
  EXPECT_EQ(errc_of(client.try_acquire(1, {.mode = shared})), Errc::unsupported);
  EXPECT_EQ(errc_of(client.try_acquire(1, {.mode = permits(1, 2)})), Errc::unsupported);
  EXPECT_EQ(errc_of(client.try_acquire(1, {.lock_delay = 1s})), Errc::unsupported);
  EXPECT_EQ(errc_of(client.try_acquire(1, {.lease = 0ms})), Errc::invalid_argument);
  EXPECT_EQ(errc_of(client.try_resize("name", 2)), Errc::unsupported);
  client.acquire(1);
  EXPECT_EQ(errc_of(client.try_downgrade({.claim = 1})), Errc::unsupported);
  EXPECT_EQ(client.look(1).standing, granted);
}

TEST_P(Polling, ShowsTheLockOfExactlyTheName) {
  BackendUnderTest client(url());
  const LockName part = spi::PartName::of("name", "part");
  client.acquire(1, {.reason = "why"});
  client.acquire(2, {.reason = "next"});
  client.acquire(3, {.name = part});
  EXPECT_FALSE(client.show("nam"));
  EXPECT_FALSE(client.show("name", LockKind::semaphore));
  const auto lock = client.show("name");
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->name, "name");
  EXPECT_EQ(lock->holders.at(0).reason, "why");
  EXPECT_EQ(lock->holders.at(0).client.id, client.identity().id);
  EXPECT_EQ(lock->waiters.at(0).reason, "next");
  EXPECT_EQ(client.show(part)->name, part.text());
}

TEST_P(Polling, ListsNothing) {
  BackendUnderTest client(url());
  client.acquire(1);
  EXPECT_EQ(errc_of(client.start_list("")->result()), Errc::unsupported);
  EXPECT_EQ(errc_of(client.start_list("name")->result()), Errc::unsupported);
}

TEST_P(Polling, EvictsUpToANumber) {
  BackendUnderTest client(url());
  const std::uint64_t number = client.acquire(1).number;
  EXPECT_EQ(client.evict("name", LockKind::lock, number - 1), 0U);
  EXPECT_EQ(client.evict("name", LockKind::lock, number), 1U);
  EXPECT_EQ(client.evict(), 0U);
  EXPECT_EQ(client.look(1).standing, absent);
}

}  // namespace
}  // namespace holdfast::spi_suite
