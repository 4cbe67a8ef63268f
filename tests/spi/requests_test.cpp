// What a request may say besides its mode: refuse, repeat, replace; and what makes no sense.

#include <gtest/gtest.h>

#include <vector>

#include "spi/stores.hpp"
#include "support/errors.hpp"

namespace holdfast::spi_suite {
namespace {

TEST_P(Requests, ThatRefuseToWaitLeaveNoTrace) {
  BackendUnderTest holder(url());
  BackendUnderTest other(url());
  holder.acquire(1);
  const ClaimAnswer answer = other.acquire(2, {.when_busy = WhenBusy::refuse});
  EXPECT_EQ(answer.standing, absent);
  EXPECT_EQ(other.look(2).standing, absent);
  EXPECT_FALSE(other.release(2));
  EXPECT_TRUE(holder.list().at(0).waiters.empty());
  holder.release(1);
  EXPECT_TRUE(holder.list().empty());
  EXPECT_EQ(other.acquire(2, {.when_busy = WhenBusy::refuse}).standing, granted);
}

TEST_P(Requests, ThatRefuseToWaitDoNotOvertake) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(2, 3)});
  client.acquire(2, {.mode = permits(2, 3)});
  EXPECT_EQ(client.acquire(3, {.mode = permits(1, 3), .when_busy = WhenBusy::refuse}).standing, absent);
}

TEST_P(Requests, ThatAreRepeatedFindTheClaimWhereItStands) {
  BackendUnderTest client(url());
  const std::uint64_t number = client.acquire(1).number;
  client.acquire(2);
  client.acquire(3);
  EXPECT_EQ(client.acquire(1).number, number);
  EXPECT_EQ(client.acquire(1, {.when_busy = WhenBusy::refuse}).standing, granted) << "it is not in its own way";
  EXPECT_EQ(client.acquire(2).place, 1U);
  EXPECT_EQ(client.acquire(2, {.when_busy = WhenBusy::refuse}).place, 1U);
  EXPECT_EQ(client.acquire(3).place, 2U);
  const auto locks = client.list();
  EXPECT_EQ(locks.at(0).holders.size(), 1U);
  EXPECT_EQ(locks.at(0).waiters.size(), 2U);
}

TEST_P(Requests, ThatAreRepeatedArmTheLeaseAgain) {
  BackendUnderTest client(url());
  if (has_sessions()) {  // which is armed all the time, and has one length
    EXPECT_GE(client.acquire(1, {.lease = 60s}).lease, 60s);
    EXPECT_GE(client.acquire(1, {.lease = 60s}).lease, 60s);
    return;
  }
  client.acquire(1, {.lease = 60s});
  const base::Instant before = base::BootClock::now();
  const ClaimAnswer again = client.acquire(1, {.lease = 120s});
  EXPECT_GE(again.lease, 120s);
  EXPECT_GE(again.armed_at, before);
  EXPECT_GT(client.list().at(0).holders.at(0).lease_left, 60s);
  client.acquire(1, {.lease = 1s});
  EXPECT_GT(client.list().at(0).holders.at(0).lease_left, 60s) << "never shortened";
}

TEST_P(Requests, ThatAreRepeatedAfterTheEndBeginASecondLife) {
  BackendUnderTest client(url());
  const std::uint64_t number = client.acquire(1).number;
  client.release(1);
  EXPECT_GT(client.acquire(1).number, number);
  EXPECT_EQ(client.evict(), 1U);
  client.acquire(2);
  EXPECT_EQ(client.acquire(1).standing, waiting);
}

TEST_P(Requests, ReplaceAClaimThatHoldsAndStandBehindTheOthers) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1);
  second.acquire(2);
  EXPECT_EQ(first.acquire(3, {.replaces = 1}).place, 1U);
  EXPECT_TRUE(second.is_told_granted(2));
  EXPECT_EQ(first.look(1).standing, absent);
  EXPECT_EQ(first.acquire(3, {.replaces = 1}).place, 1U) << "repeated after a lost reply";
  EXPECT_EQ(second.acquire(4, {.replaces = 2}).place, 1U);
  EXPECT_TRUE(first.is_told_granted(3));
}

TEST_P(Requests, ReplaceAClaimThatHoldsAndAreGrantedAtOnce) {
  BackendUnderTest client(url());
  const std::uint64_t number = client.acquire(1).number;
  const ClaimAnswer answer = client.acquire(2, {.mode = shared, .replaces = 1});
  EXPECT_EQ(answer.standing, granted);
  EXPECT_GT(answer.number, number);
  EXPECT_EQ(client.look(1).standing, absent);
}

TEST_P(Requests, ReplaceAClaimThatWaits) {
  BackendUnderTest holder(url());
  BackendUnderTest client(url());
  holder.acquire(1);
  client.acquire(2);
  holder.acquire(3);
  EXPECT_EQ(client.acquire(4, {.replaces = 2}).place, 2U);
  EXPECT_EQ(client.look(2).standing, absent);
  EXPECT_EQ(holder.look(3).place, 1U);
}

TEST_P(Requests, ReplaceEvenIfTheyAreRefused) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1);
  second.acquire(2);
  EXPECT_EQ(first.acquire(3, {.when_busy = WhenBusy::refuse, .replaces = 1}).standing, absent);
  EXPECT_EQ(first.look(1).standing, absent);
  EXPECT_TRUE(second.is_told_granted(2));
  first.acquire(4);
  EXPECT_EQ(first.acquire(5, {.when_busy = WhenBusy::refuse, .replaces = 4}).standing, absent);
  EXPECT_TRUE(second.list().at(0).waiters.empty());
}

TEST_P(Requests, ReplaceEvenIfTheyAreInTheLineAlready) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.acquire(2);
  client.acquire(3);
  EXPECT_EQ(client.acquire(3, {.replaces = 2}).place, 1U);
  EXPECT_EQ(client.look(2).standing, absent);
  EXPECT_EQ(client.acquire(3, {.replaces = 1}).standing, granted);
  EXPECT_EQ(client.look(1).standing, absent);
}

TEST_P(Requests, ReplaceEvenIfTheirTotalIsRefused) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(1, 3)});
  client.acquire(2, {.mode = permits(1, 3)});
  EXPECT_EQ(errc_of(client.try_acquire(3, {.mode = permits(1, 4), .replaces = 1})), Errc::invalid_argument);
  EXPECT_EQ(client.look(1).standing, absent);
  EXPECT_EQ(client.look(2).standing, granted);
  EXPECT_EQ(client.acquire(4, {.mode = permits(4, 4), .replaces = 2}).standing, granted) << "the last one of the old";
}

TEST_P(Requests, ReplaceNothingInTheOtherLineOfTheName) {
  BackendUnderTest client(url());
  client.acquire(1);
  EXPECT_EQ(client.acquire(2, {.mode = permits(1, 1), .replaces = 1}).standing, granted);
  EXPECT_EQ(client.look(1).standing, granted);
  EXPECT_EQ(client.acquire(3, {.replaces = 2}).place, 1U);
  EXPECT_EQ(client.look(2).standing, granted);
}

TEST_P(Requests, AreAboutOneLineEvenIfTheOtherHasTheSameId) {
  BackendUnderTest client(url());
  const auto in = [](LockKind kind) { return Ref{.claim = 1, .lease = 0ms, .kind = kind}; };
  EXPECT_EQ(client.acquire(1).standing, granted);
  EXPECT_EQ(client.renew(in(LockKind::semaphore)).standing, absent);
  EXPECT_FALSE(client.start_release(in(LockKind::semaphore))->result().value());
  EXPECT_EQ(client.acquire(2).standing, waiting);
  EXPECT_EQ(client.acquire(1, {.mode = permits(1, 1)}).standing, granted);
  EXPECT_EQ(client.acquire(3, {.mode = permits(1, 1)}).standing, waiting);
  EXPECT_EQ(client.renew({in(LockKind::lock), in(LockKind::semaphore)}).at(0).standing, granted);
  EXPECT_TRUE(client.start_release(in(LockKind::lock))->result().value());
  ASSERT_TRUE(client.is_told_granted(2));
  EXPECT_EQ(client.told_of(Told::Of::a_grant, 2)->kind, LockKind::lock);
  EXPECT_EQ(client.renew(in(LockKind::semaphore)).standing, granted);
  EXPECT_TRUE(client.start_release(in(LockKind::semaphore))->result().value());
  ASSERT_TRUE(client.is_told_granted(3));
  EXPECT_EQ(client.told_of(Told::Of::a_grant, 3)->kind, LockKind::semaphore);
}

TEST_P(Requests, ReplaceNothingThatIsNotThere) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.acquire(1, {.replaces = 9}).standing, granted);
  EXPECT_EQ(client.acquire(1, {.replaces = 1}).standing, granted) << "not itself";
  client.acquire(2, {.name = "other"});
  client.acquire(3, {.replaces = 2});
  EXPECT_EQ(client.look(2, "other").standing, granted) << "of another name";
}

TEST_P(Requests, ForADelayAreRefusedWhereThereIsNone) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.traits().lock_delay, can().lock_delay);
  if (client.traits().lock_delay) return;
  EXPECT_EQ(errc_of(client.try_acquire(1, {.lock_delay = 1s})), Errc::unsupported);
  EXPECT_TRUE(client.list().empty());
}

TEST_P(Requests, ThatMakeNoSenseAreRefused) {
  BackendUnderTest client(url());
  for (const AcquireOptions& options :
       {AcquireOptions{.lease = 0ms}, AcquireOptions{.lease = -1ms}, AcquireOptions{.mode = permits(0, 3)},
        AcquireOptions{.mode = permits(4, 3)}, AcquireOptions{.mode = permits(1, 0)}}) {
    EXPECT_EQ(errc_of(client.try_acquire(1, options)), Errc::invalid_argument);
  }
  EXPECT_TRUE(client.list().empty());
}

TEST_P(Requests, AreExecutedInTheOrderInWhichTheyWereMade) {
  BackendUnderTest client(url());  // fresh: whatever it must do first, these wait for it
  const auto first = client.start_acquire(1);
  const auto second = client.start_acquire(2);
  const auto third = client.start_acquire(3);
  const auto early = client.start_renew({{.claim = 3}, {.claim = 1}, {.claim = 9}});
  const auto released = client.start_release({.claim = 1});
  const auto again = client.start_release({.claim = 1});
  const auto late = client.start_renew({{.claim = 3}, {.claim = 2}, {.claim = 1}});
  ASSERT_TRUE(first->result().ok() && second->result().ok() && third->result().ok());
  EXPECT_EQ(first->result().value().standing, granted);
  EXPECT_EQ(second->result().value().place, 1U);
  EXPECT_EQ(third->result().value().place, 2U);
  ASSERT_TRUE(early->result().ok() && late->result().ok());
  const auto at_first = early->result().value();
  EXPECT_EQ(at_first.at(0).place, 2U);
  EXPECT_EQ(at_first.at(1).standing, granted);
  EXPECT_EQ(at_first.at(2).standing, absent);
  EXPECT_TRUE(released->result().value());
  EXPECT_FALSE(again->result().value());
  const auto at_last = late->result().value();
  EXPECT_EQ(at_last.at(0).place, 1U);
  EXPECT_EQ(at_last.at(1).standing, granted);
  EXPECT_EQ(at_last.at(2).standing, absent);
}

TEST_P(Requests, MadeTogetherAreAllToldWhatFollows) {
  BackendUnderTest client(url());  // fresh, as above: a store may execute these as one
  client.start_acquire(1);
  const auto second = client.start_acquire(2);
  const auto released = client.start_release({.claim = 1});
  ASSERT_TRUE(second->result().ok() && released->result().ok());
  // Where a client finds out for itself whose turn it is, its answer may tell already what followed.
  if (second->result().value().standing == granted) return;
  EXPECT_TRUE(client.is_told_granted(2)) << "it was answered that it waits, and then granted";
}

TEST_P(Requests, MadeTogetherDoNotHideWhoMadeThem) {
  BackendUnderTest client(url());
  const auto claimed = client.start_acquire(1);
  const auto watched = client.start_watch("register", 0);
  ASSERT_TRUE(claimed->result().ok());
  EXPECT_EQ(client.list().at(0).holders.at(0).client.id, client.identity().id);
}

TEST_P(Requests, MadeByTheHundredAreAllAnswered) {
  BackendUnderTest client(url());
  std::vector<Pending<ClaimAnswer>> claims;
  const int count = can().crowd;
  for (int claim = 0; claim < count; ++claim) claims.push_back(client.start_acquire(claim));
  for (int claim = 0; claim < count; ++claim) {
    const auto answer = claims[static_cast<std::size_t>(claim)]->result();
    ASSERT_TRUE(answer.ok());
    ASSERT_EQ(answer.value().standing, claim == 0 ? granted : waiting);
    ASSERT_EQ(answer.value().place, static_cast<unsigned>(claim));
  }
}

}  // namespace
}  // namespace holdfast::spi_suite
