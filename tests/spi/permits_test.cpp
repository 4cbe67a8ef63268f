// k of n, all or nothing, in order.

#include <gtest/gtest.h>

#include <vector>

#include "spi/stores.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {
namespace {

TEST_P(Permits, AreTakenUntilThereAreNoneLeft) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  EXPECT_EQ(first.acquire(1, {.mode = permits(1, 3)}).standing, granted);
  EXPECT_EQ(second.acquire(2, {.mode = permits(2, 3)}).standing, granted);
  EXPECT_EQ(second.acquire(3, {.mode = permits(1, 3)}).place, 2U);
  EXPECT_EQ(first.acquire(4, {.mode = permits(1, 3), .when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_TRUE(first.release(1));
  EXPECT_TRUE(second.is_told_granted(3));
}

TEST_P(Permits, AreGivenAllOrNothingAndStrictlyInOrder) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  BackendUnderTest third(url());
  first.acquire(1, {.mode = permits(1, 3)});
  first.acquire(2, {.mode = permits(1, 3)});
  EXPECT_EQ(second.acquire(3, {.mode = permits(3, 3)}).standing, waiting);
  EXPECT_EQ(third.acquire(4, {.mode = permits(1, 3)}).place, 3U) << "it would fit, but it is not its turn";
  EXPECT_EQ(third.acquire(5, {.mode = permits(1, 3), .when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_TRUE(first.release(1));
  EXPECT_EQ(second.look(3).standing, waiting) << "two are not three";
  EXPECT_EQ(third.look(4).standing, waiting);
  EXPECT_TRUE(first.release(2));
  EXPECT_TRUE(second.is_told_granted(3));
  EXPECT_EQ(third.look(4).place, 1U);
  EXPECT_TRUE(second.release(3));
  EXPECT_TRUE(third.is_told_granted(4));
}

TEST_P(Permits, LetSeveralInWhenOneLeaves) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(3, 3)});
  for (int claim = 2; claim <= 5; ++claim) client.acquire(claim, {.mode = permits(1, 3)});
  EXPECT_TRUE(client.release(1));
  for (int claim = 2; claim <= 4; ++claim) EXPECT_TRUE(client.is_told_granted(claim));
  EXPECT_EQ(client.look(5).place, 3U);
}

TEST_P(Permits, LetTheNextInWhenTheHeadOfTheLineGivesUp) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(2, 3)});
  client.acquire(2, {.mode = permits(2, 3)});
  client.acquire(3, {.mode = permits(1, 3)});
  EXPECT_TRUE(client.release(2));
  EXPECT_TRUE(client.is_told_granted(3));
  EXPECT_EQ(client.acquire(4, {.mode = permits(1, 3)}).standing, waiting) << "2 + 1 of 3 are taken";
}

TEST_P(Permits, AreApartFromTheLocksOfTheSameName) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.acquire(1).standing, granted);
  EXPECT_EQ(client.acquire(2, {.mode = permits(1, 1)}).standing, granted);
  EXPECT_EQ(client.acquire(3).place, 1U);
  EXPECT_EQ(client.acquire(4, {.mode = permits(1, 1)}).place, 1U);
  EXPECT_TRUE(client.release(2));
  EXPECT_TRUE(client.is_told_granted(4));
  EXPECT_EQ(client.look(3).standing, waiting);
  EXPECT_TRUE(client.release(1));
  EXPECT_TRUE(client.is_told_granted(3));
}

TEST_P(Permits, HaveOneTotalUntilTheyAreAllBack) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1, {.mode = permits(1, 3)});
  first.acquire(2, {.mode = permits(3, 3)});
  for (const auto when_busy : {WhenBusy::wait, WhenBusy::refuse}) {
    for (const std::uint32_t total : {2U, 4U}) {
      const auto answer = second.try_acquire(3, {.mode = permits(1, total), .when_busy = when_busy});
      ASSERT_EQ(errc_of(answer), Errc::invalid_argument);
      EXPECT_NE(answer.failure().detail.find("has 3 permits"), std::string::npos) << answer.failure().detail;
    }
  }
  EXPECT_EQ(second.look(3).standing, absent) << "a refusal leaves no trace";
  first.release(2);
  EXPECT_EQ(errc_of(second.try_acquire(3, {.mode = permits(1, 4)})), Errc::invalid_argument);
  first.release(1);
  EXPECT_EQ(second.acquire(3, {.mode = permits(4, 4)}).standing, granted);
  EXPECT_EQ(errc_of(first.try_acquire(1, {.mode = permits(1, 3)})), Errc::invalid_argument);
  EXPECT_EQ(first.acquire(4, {.name = "other", .mode = permits(1, 9)}).standing, granted) << "each name has its own";
}

TEST_P(Permits, MayHaveAnotherTotalAfterAnEviction) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(2, 3)});
  EXPECT_EQ(client.evict("name", LockKind::semaphore), 1U);
  EXPECT_EQ(client.acquire(2, {.mode = permits(5, 5)}).standing, granted);
}

// --- another total, while they are used ---

TEST_P(Permits, AdmitWaitersWhenTheirTotalIsRaised) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1, {.mode = permits(2, 2)});
  for (int claim = 2; claim <= 4; ++claim) second.acquire(claim, {.mode = permits(1, 2)});
  EXPECT_TRUE(first.resize(4));
  EXPECT_TRUE(second.is_told_granted(2));
  EXPECT_TRUE(second.is_told_granted(3));
  EXPECT_EQ(second.look(4).place, 3U);
  EXPECT_EQ(errc_of(first.try_acquire(5, {.mode = permits(1, 2)})), Errc::invalid_argument) << "the old total";
  EXPECT_EQ(first.acquire(5, {.mode = permits(1, 4)}).place, 4U);
  EXPECT_EQ(second.list().at(0).total, 4U);
}

TEST_P(Permits, AreNotTakenAwayWhenTheirTotalIsLowered) {
  BackendUnderTest client(url());
  for (int claim = 1; claim <= 5; ++claim) client.acquire(claim, {.mode = permits(1, 5)});
  EXPECT_TRUE(client.resize(2));
  for (int claim = 1; claim <= 5; ++claim) EXPECT_EQ(client.renew(claim).standing, granted) << claim;
  EXPECT_EQ(client.acquire(6, {.mode = permits(1, 2), .when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_EQ(client.acquire(7, {.mode = permits(1, 2)}).standing, waiting);
  for (int claim = 1; claim <= 3; ++claim) {
    client.release(claim);
    EXPECT_EQ(client.look(7).standing, waiting) << 5 - claim << " of 2 are taken";
  }
  client.release(4);
  EXPECT_TRUE(client.is_told_granted(7));
  EXPECT_EQ(client.acquire(8, {.mode = permits(1, 2), .when_busy = WhenBusy::refuse}).standing, absent);
}

TEST_P(Permits, AreRefusedToWaitersThatWantMoreThanThereAreNow) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1, {.mode = permits(3, 4)});
  second.acquire(2, {.mode = permits(2, 4)});
  first.acquire(3, {.mode = permits(4, 4)});
  second.acquire(4, {.mode = permits(3, 4)});
  EXPECT_TRUE(first.resize(3));
  EXPECT_TRUE(first.is_told_to_check(3));
  EXPECT_EQ(first.look(3).standing, absent);
  EXPECT_EQ(errc_of(first.try_acquire(3, {.mode = permits(4, 4)})), Errc::invalid_argument);
  EXPECT_EQ(second.look(2).place, 1U);
  EXPECT_EQ(second.look(4).place, 2U);
  EXPECT_TRUE(first.resize(1));
  EXPECT_EQ(second.look(2).standing, absent);
  EXPECT_EQ(first.acquire(5, {.mode = permits(1, 1)}).place, 1U);
  first.release(1);
  EXPECT_TRUE(first.is_told_granted(5));
}

TEST_P(Permits, LetInWhoStoodBehindThoseThatWantTooMuch) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(1, 3)});
  client.acquire(2, {.mode = permits(3, 3)});
  client.acquire(3, {.mode = permits(1, 3)});
  EXPECT_TRUE(client.resize(2));
  EXPECT_TRUE(client.is_told_granted(3));
}

TEST_P(Permits, HaveNoTotalToChangeWhileNobodyUsesThem) {
  BackendUnderTest client(url());
  EXPECT_FALSE(client.resize(3));
  client.acquire(1);
  EXPECT_FALSE(client.resize(3)) << "a lock is another thing";
  client.acquire(2, {.mode = permits(1, 2)});
  EXPECT_TRUE(client.resize(3));
  EXPECT_TRUE(client.resize(3)) << "again";
  EXPECT_EQ(errc_of(client.try_resize("name", 0)), Errc::invalid_argument);
  EXPECT_TRUE(client.resize(UINT32_MAX));
  client.release(2);
  EXPECT_FALSE(client.resize(3));
  EXPECT_EQ(client.acquire(3, {.mode = permits(1, 2)}).standing, granted) << "whoever comes next decides";
}

TEST_P(Permits, AreCountedAndSweptInACrowd) {
  BackendUnderTest client(url());
  const int crowd = can().crowd;
  const auto total = static_cast<std::uint32_t>(crowd + 1);
  std::vector<Pending<ClaimAnswer>> claims;
  for (int claim = 0; claim < crowd; ++claim)
    claims.push_back(client.start_acquire(claim, {.mode = permits(1, total)}));
  for (const auto& claim : claims) ASSERT_EQ(claim->result().value().standing, granted);
  EXPECT_EQ(client.acquire(crowd, {.mode = permits(1, total), .lease = 300ms}).standing, granted);
  const ClaimAnswer wait = client.acquire(crowd + 1, {.mode = permits(1, total)});
  EXPECT_EQ(wait.place, total);
  let_lapse(client, crowd);
  EXPECT_TRUE(test::eventually([&] { return client.look(crowd + 1).standing == granted; })) << "the last one has ended";
  EXPECT_EQ(client.acquire(crowd + 2, {.mode = permits(2, total)}).place, total);
  EXPECT_TRUE(client.release(3) && client.release(crowd - 50));
  EXPECT_TRUE(client.is_told_granted(crowd + 2));
}

TEST_P(Permits, CannotBeDowngraded) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(1, 2)});
  EXPECT_EQ(errc_of(client.try_downgrade({.claim = 1})), Errc::invalid_argument);
  EXPECT_EQ(client.look(1).standing, granted);
}

TEST_P(Permits, CountUpToFourBillion) {
  BackendUnderTest client(url());
  constexpr std::uint32_t all = UINT32_MAX;
  EXPECT_EQ(client.acquire(1, {.mode = permits(all - 1, all)}).standing, granted);
  EXPECT_EQ(client.acquire(2, {.mode = permits(1, all)}).standing, granted);
  EXPECT_EQ(client.acquire(3, {.mode = permits(1, all)}).standing, waiting);
  EXPECT_EQ(client.list().at(0).holders.at(0).permits, all - 1);
}

}  // namespace
}  // namespace holdfast::spi_suite
