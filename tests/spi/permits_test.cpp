// k of n, all or nothing, in order.

#include <gtest/gtest.h>

#include "spi/stores.hpp"
#include "support/errors.hpp"

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
  EXPECT_EQ(client.evict(), 1U);
  EXPECT_EQ(client.acquire(2, {.mode = permits(5, 5)}).standing, granted);
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
