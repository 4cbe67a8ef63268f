// Who is granted, who waits, and in which order: exclusive and shared claims.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spi/stores.hpp"

namespace holdfast::spi_suite {
namespace {

using Claims = std::vector<int>;

TEST_P(LineOrder, GrantsAFreeNameAtOnce) {
  BackendUnderTest client(url());
  const base::Instant before = base::BootClock::now();
  const ClaimAnswer answer = client.acquire(1, {.lease = 60s});
  EXPECT_EQ(answer.standing, granted);
  EXPECT_GT(answer.number, 0U);
  EXPECT_GE(answer.lease, 60s);
  EXPECT_GE(answer.armed_at, before);
  EXPECT_LE(answer.armed_at, base::BootClock::now());
  EXPECT_EQ(answer.asked_to_release, std::nullopt);
  EXPECT_TRUE(client.release(1));
  EXPECT_FALSE(client.release(1));
}

TEST_P(LineOrder, ServesClientsInTheOrderInWhichTheyCame) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  BackendUnderTest third(url());
  EXPECT_EQ(first.acquire(1).standing, granted);
  const ClaimAnswer wait = second.acquire(2);
  EXPECT_EQ(wait.standing, waiting);
  EXPECT_EQ(wait.place, 1U);
  EXPECT_NE(wait.armed_at, base::Instant::min()) << "the lease of one who waits runs, too";
  EXPECT_EQ(third.acquire(3).place, 2U);
  EXPECT_TRUE(first.release(1));
  EXPECT_TRUE(second.is_told_granted(2));
  EXPECT_EQ(second.look(2).standing, granted);
  EXPECT_EQ(third.look(3).place, 1U);
  EXPECT_EQ(first.acquire(4).place, 2U) << "whoever comes again stands behind";
  EXPECT_TRUE(second.release(2));
  EXPECT_TRUE(third.is_told_granted(3));
  EXPECT_TRUE(third.release(3));
  EXPECT_TRUE(first.is_told_granted(4));
  EXPECT_EQ(first.told_granted(), Claims({4}));
  EXPECT_EQ(second.told_granted(), Claims({2}));
  EXPECT_EQ(third.told_granted(), Claims({3}));
}

TEST_P(LineOrder, ServesClaimsOfOneClientInTheOrderInWhichTheyCame) {
  BackendUnderTest client(url());
  for (int claim = 1; claim <= 4; ++claim) client.acquire(claim);
  for (int claim = 1; claim <= 3; ++claim) {
    EXPECT_TRUE(client.release(claim));
    EXPECT_TRUE(client.is_told_granted(claim + 1));
  }
  EXPECT_EQ(client.told_granted(), Claims({2, 3, 4}));
}

TEST_P(LineOrder, MovesTheOthersUpWhenOneLeavesTheLine) {
  BackendUnderTest holder(url());
  BackendUnderTest line(url());
  holder.acquire(0);
  for (int claim = 1; claim <= 9; ++claim) EXPECT_EQ(line.acquire(claim).place, static_cast<unsigned>(claim));
  for (const int leaving : {5, 3, 9, 1}) EXPECT_TRUE(line.release(leaving));
  EXPECT_EQ(line.look(2).place, 1U);
  EXPECT_EQ(line.look(4).place, 2U);
  EXPECT_EQ(line.look(8).place, 5U);
  EXPECT_EQ(line.acquire(10).place, 6U);
  EXPECT_EQ(holder.look(0).standing, granted);
  holder.release(0);
  EXPECT_TRUE(line.is_told_granted(2));
}

TEST_P(LineOrder, ReleasesNothingButTheClaimItself) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1);
  second.acquire(2);
  EXPECT_FALSE(second.release(3)) << "never was there";
  EXPECT_FALSE(second.release(1, "another name"));
  EXPECT_TRUE(first.release(1));
  EXPECT_FALSE(first.release(1)) << "late, and the lock is another's";
  EXPECT_EQ(second.look(2).standing, granted);
  EXPECT_EQ(first.acquire(4).place, 1U);
}

TEST_P(LineOrder, TellsNamesApartByteByByte) {
  BackendUnderTest client(url());
  const std::vector<LockName> names = {"a",
                                       "A",
                                       "a ",
                                       "a/1",
                                       "a/10",
                                       "\xc3\xa4",
                                       "a\xcc\x88",
                                       "%",
                                       "_",
                                       "*",
                                       "'; --",
                                       "1",
                                       "01",
                                       "1.0",
                                       "\n",
                                       "\x7f\x01",
                                       "null",
                                       std::string(LockName::max_bytes, 'x'),
                                       std::string(LockName::max_bytes - 1, 'x')};
  for (const LockName& name : names) {
    EXPECT_EQ(client.acquire(1, {.name = name}).standing, granted) << name.text() << ": one id, another name";
  }
  EXPECT_EQ(client.list().size(), names.size());
  for (const LockName& name : names) {
    EXPECT_EQ(client.acquire(2, {.name = name}).place, 1U) << name.text();
    EXPECT_TRUE(client.release(1, name)) << name.text();
    EXPECT_EQ(client.look(2, name).standing, granted) << name.text();
    EXPECT_TRUE(client.release(2, name)) << name.text();
  }
  EXPECT_TRUE(client.list().empty());
}

TEST_P(LineOrder, GivesAPushTheNameOfItsLock) {
  BackendUnderTest client(url());
  const LockName name = std::string(LockName::max_bytes - 2, 'n') + "\xc3\xa4";
  client.acquire(1, {.name = name});
  client.acquire(2, {.name = name});
  client.release(1, name);
  const auto told = client.told_of(Told::Of::a_grant, 2);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->name, name.text());
}

// --- shared ---------------------------------------------------------------------------------------------------------

TEST_P(SharedMode, LetsReadersInTogether) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  EXPECT_EQ(first.acquire(1, {.mode = shared}).standing, granted);
  EXPECT_EQ(second.acquire(2, {.mode = shared}).standing, granted);
  EXPECT_EQ(second.acquire(3, {.mode = shared, .when_busy = WhenBusy::refuse}).standing, granted);
  EXPECT_EQ(second.acquire(4).place, 3U);
  EXPECT_TRUE(first.release(1));
  EXPECT_TRUE(second.release(2));
  EXPECT_EQ(second.look(4).place, 1U);
  EXPECT_TRUE(second.release(3));
  EXPECT_TRUE(second.is_told_granted(4));
}

TEST_P(SharedMode, KeepsReadersBehindAWriterThatHolds) {
  BackendUnderTest client(url());
  client.acquire(1);
  EXPECT_EQ(client.acquire(2, {.mode = shared}).place, 1U);
  EXPECT_EQ(client.acquire(3, {.mode = shared, .when_busy = WhenBusy::refuse}).standing, absent);
}

TEST_P(SharedMode, LetsNobodyOvertakeAWriterThatWaits) {
  BackendUnderTest reader(url());
  BackendUnderTest writer(url());
  reader.acquire(1, {.mode = shared});
  EXPECT_EQ(writer.acquire(2).place, 1U);
  EXPECT_EQ(reader.acquire(3, {.mode = shared}).place, 2U);
  EXPECT_EQ(reader.acquire(4, {.mode = shared, .when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_TRUE(reader.release(1));
  EXPECT_TRUE(writer.is_told_granted(2));
  EXPECT_EQ(reader.look(3).standing, waiting);
}

TEST_P(SharedMode, LetsReadersBehindAWriterInTogetherWhenItLeaves) {
  BackendUnderTest writer(url());
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  writer.acquire(1);
  first.acquire(2, {.mode = shared});
  second.acquire(3, {.mode = shared});
  writer.acquire(4);
  second.acquire(5, {.mode = shared});
  EXPECT_TRUE(writer.release(1));
  EXPECT_TRUE(first.is_told_granted(2));
  EXPECT_TRUE(second.is_told_granted(3));
  EXPECT_EQ(writer.look(4).place, 2U);
  EXPECT_EQ(second.look(5).place, 3U) << "not past the writer";
  EXPECT_TRUE(first.release(2));
  EXPECT_EQ(writer.look(4).place, 1U);
  EXPECT_TRUE(second.release(3));
  EXPECT_TRUE(writer.is_told_granted(4));
}

TEST_P(SharedMode, LetsReadersThroughWhenTheWriterBeforeThemGivesUp) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = shared});
  client.acquire(2);
  client.acquire(3, {.mode = shared});
  client.acquire(4, {.mode = shared});
  EXPECT_TRUE(client.release(2));
  EXPECT_TRUE(client.is_told_granted(3));
  EXPECT_TRUE(client.is_told_granted(4));
}

TEST_P(SharedMode, IsReachedByADowngradeWithoutAGap) {
  BackendUnderTest writer(url());
  BackendUnderTest reader(url());
  const std::uint64_t number = writer.acquire(1).number;
  reader.acquire(2, {.mode = shared});
  reader.acquire(3);
  const ClaimAnswer answer = writer.downgrade(1);
  EXPECT_EQ(answer.standing, granted);
  EXPECT_EQ(answer.number, number);
  EXPECT_TRUE(reader.is_told_granted(2));
  EXPECT_EQ(writer.look(1).standing, granted);
  EXPECT_EQ(writer.look(1).number, number);
  EXPECT_EQ(reader.look(3).place, 2U) << "a writer still waits for both";
  EXPECT_EQ(writer.downgrade(1).standing, granted) << "again";
  EXPECT_EQ(writer.list().at(0).holders.at(0).mode, ClaimMode::shared);
  EXPECT_TRUE(writer.release(1));
  EXPECT_TRUE(reader.release(2));
  EXPECT_TRUE(reader.is_told_granted(3));
  EXPECT_EQ(writer.acquire(4, {.mode = shared}).standing, waiting) << "claim 3 is still exclusive";
}

TEST_P(SharedMode, DowngradesNothingThatIsNotHeld) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.downgrade(1).standing, absent);
  client.acquire(1);
  client.acquire(2);
  EXPECT_EQ(client.downgrade(2).standing, waiting);
  client.release(1);
  EXPECT_EQ(client.look(2).standing, granted);
  EXPECT_EQ(client.acquire(3, {.mode = shared}).standing, waiting) << "claim 2 was not made shared";
}

}  // namespace
}  // namespace holdfast::spi_suite
