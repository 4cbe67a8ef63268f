// Leases on a real clock: what ends, what does not, and what a renewal does.

#include <gtest/gtest.h>

#include <vector>

#include "spi/stores.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {
namespace {

/// Ends during a test.
constexpr milliseconds short_lease = 250ms;

base::Instant now() { return base::BootClock::now(); }

TEST_P(Leases, OfADeadHolderEndInTimeAndNotBefore) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  const ClaimAnswer held = holder.acquire(1, {.lease = short_lease});
  ASSERT_EQ(held.standing, granted);
  ASSERT_GE(held.lease, short_lease);
  const ClaimAnswer wait = next.acquire(2);
  ASSERT_EQ(wait.standing, waiting);
  EXPECT_GT(wait.check_after, 0ms);
  EXPECT_LE(wait.check_after, held.lease + 1ms) << "when the holder's lease ends, somebody must look";
  EXPECT_TRUE(test::eventually([&] { return next.look(2).standing == granted; })) << "followed when somebody asks";
  EXPECT_GE(now(), held.armed_at + held.lease);
  EXPECT_EQ(holder.look(1).standing, absent);
  EXPECT_FALSE(holder.release(1)) << "too late, and nobody else's";
  EXPECT_EQ(next.look(2).standing, granted);
}

TEST_P(Leases, OfADeadHolderEndForALaterComer) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  const ClaimAnswer held = holder.acquire(1, {.lease = short_lease});
  int claim = 1;
  ClaimAnswer answer;
  EXPECT_TRUE(test::eventually([&] {
    answer = next.acquire(++claim, {.when_busy = WhenBusy::refuse});
    return answer.standing == granted;
  }));
  EXPECT_GE(now(), held.armed_at + held.lease);
  EXPECT_GT(answer.number, held.number);
}

TEST_P(Leases, OfDeadWaitersEndToo) {
  BackendUnderTest client(url());
  BackendUnderTest next(url());
  client.acquire(1);
  for (int dead = 2; dead <= 5; ++dead) client.acquire(dead, {.lease = short_lease});
  EXPECT_LE(next.acquire(6).place, 5U);
  EXPECT_TRUE(test::eventually([&] { return client.look(2).standing == absent; }));
  EXPECT_TRUE(test::eventually([&] { return client.look(5).standing == absent; }));
  client.release(1);
  EXPECT_TRUE(next.is_told_granted(6)) << "not those who have died meanwhile";
  EXPECT_TRUE(client.told_granted().empty());
}

TEST_P(Leases, ThatAreFixedEndByThemselves) {
  BackendUnderTest client(url());
  if (!client.traits().fixed_leases) {
    EXPECT_EQ(errc_of(client.try_acquire(1, {.lease_kind = LeaseKind::fixed})), Errc::unsupported);
    return;
  }
  const ClaimAnswer held = client.acquire(1, {.lease = short_lease, .lease_kind = LeaseKind::fixed});
  EXPECT_EQ(held.standing, granted);
  EXPECT_TRUE(test::eventually([&] { return client.look(1).standing == absent; }));
  EXPECT_GE(now(), held.armed_at + held.lease);
}

TEST_P(Leases, AreNotExtendedByAsking) {
  BackendUnderTest client(url());
  ClaimAnswer last = client.acquire(1, {.lease = short_lease});
  base::Instant ends = last.armed_at + last.lease;
  EXPECT_TRUE(test::eventually([&] {
    last = client.look(1);
    if (last.standing == granted) {
      EXPECT_LE(last.armed_at + last.lease, ends + 100ms) << "no more is proved than there is";
    }
    return last.standing == absent;
  })) << "asked all the time, and it ends all the same";
  EXPECT_GE(now(), ends);
}

TEST_P(Leases, AreExtendedByRenewalHeldOrWaiting) {
  BackendUnderTest client(url());
  const ClaimAnswer first = client.acquire(1, {.lease = 600ms});
  client.acquire(2, {.lease = 600ms});
  const base::Instant end = first.armed_at + 2 * first.lease;
  while (now() < end) {
    const base::Instant before = now();
    const auto answers = client.renew(std::vector<Ref>{{1, "name", 600ms}, {2, "name", 600ms}});
    ASSERT_EQ(answers[0].standing, granted);
    ASSERT_EQ(answers[0].number, first.number);
    ASSERT_EQ(answers[1].standing, waiting);
    for (const ClaimAnswer& answer : answers) {
      EXPECT_GE(answer.lease, 600ms);
      EXPECT_GE(answer.armed_at, before);
    }
    test::eventually(100ms, [] { return false; });
  }
}

TEST_P(Leases, AreNeverShortened) {
  BackendUnderTest client(url());
  client.acquire(1, {.lease = 100s});
  const ClaimAnswer answer = client.renew(Ref{1, "name", 1s});
  EXPECT_GE(answer.lease, 1s);
  EXPECT_GT(client.list().at(0).holders.at(0).lease_left, 90s);
  EXPECT_GE(client.renew(Ref{1, "name", 200s}).lease, 200s);
  EXPECT_GT(client.list().at(0).holders.at(0).lease_left, 190s);
  EXPECT_EQ(client.renew(Ref{1, "name", LockOptions::max_ttl}).standing, granted);
  EXPECT_GT(client.list().at(0).holders.at(0).lease_left, LockOptions::max_ttl - 60s);
}

TEST_P(Leases, AreNotExtendedByAHandOver) {
  BackendUnderTest client(url());
  client.acquire(1);
  const ClaimAnswer wait = client.acquire(2, {.lease = 600ms});
  client.acquire(3);
  client.release(1);
  ASSERT_EQ(client.look(2).standing, granted);
  EXPECT_LE(client.list().at(0).holders.at(0).lease_left, given(600ms));
  EXPECT_TRUE(test::eventually([&] { return client.look(3).standing == granted; }));
  EXPECT_GE(now(), wait.armed_at + wait.lease);
}

TEST_P(Leases, AreNotBroughtBackByRenewal) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.renew(1).standing, absent);
  client.acquire(1, {.lease = short_lease});
  EXPECT_TRUE(test::eventually([&] { return client.list().empty(); }));
  const ClaimAnswer answer = client.renew(1);
  EXPECT_EQ(answer.standing, absent);
  EXPECT_EQ(answer.armed_at, base::Instant::min());
  EXPECT_TRUE(client.list().empty());
  client.acquire(2);
  client.release(2);
  EXPECT_EQ(client.renew(2).standing, absent);
  EXPECT_TRUE(client.list().empty());
}

TEST_P(Leases, AreRenewedTogetherAndAnsweredInOrder) {
  BackendUnderTest client(url());
  std::vector<Ref> refs;
  for (int claim = 0; claim < 40; ++claim) {
    const LockName name = "name " + std::to_string(claim % 10);
    client.acquire(claim, {.name = name});
    refs.push_back({claim, name, claim % 3 == 0 ? 0ms : long_lease});
  }
  refs.push_back({99, "name 0"});
  refs.push_back({0, "never seen"});
  refs.push_back(refs.front());
  const auto answers = client.renew(refs);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(answers[i].standing, i < 10 ? granted : waiting) << i;
    EXPECT_EQ(answers[i].place, i / 10) << i;
  }
  EXPECT_EQ(answers[40].standing, absent);
  EXPECT_EQ(answers[41].standing, absent);
  EXPECT_EQ(answers[42].number, answers[0].number);
  EXPECT_TRUE(client.renew(std::vector<Ref>{}).empty());
}

}  // namespace
}  // namespace holdfast::spi_suite
