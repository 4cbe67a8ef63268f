// What people on call do to a store: look, ask, evict.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "spi/stores.hpp"
#include "support/errors.hpp"

namespace holdfast::spi_suite {
namespace {

using std::chrono::system_clock;

std::vector<std::string> names_of(const std::vector<LockStatus>& locks) {
  std::vector<std::string> names;
  names.reserve(locks.size());
  for (const LockStatus& lock : locks) names.push_back(lock.name);
  return names;
}

using Names = std::vector<std::string>;

TEST_P(AdministrationOf, ListsByPrefixInTheOrderOfNames) {
  BackendUnderTest client(url());
  int claim = 0;
  for (const char* name : {"b", "a/2", "a/10", "a", "B", "\xc3\xa4", "a/1", "a0"}) {
    client.acquire(++claim, {.name = name});
  }
  EXPECT_EQ(names_of(client.list()), Names({"B", "a", "a/1", "a/10", "a/2", "a0", "b", "\xc3\xa4"}));
  EXPECT_EQ(names_of(client.list("a/")), Names({"a/1", "a/10", "a/2"}));
  EXPECT_EQ(names_of(client.list("a/1")), Names({"a/1", "a/10"}));
  EXPECT_EQ(names_of(client.list("\xc3")), Names({"\xc3\xa4"})) << "a prefix may end anywhere";
  EXPECT_TRUE(client.list("a/11").empty());
  EXPECT_TRUE(client.list("%").empty());
  EXPECT_TRUE(client.list("zzz").empty());
}

TEST_P(AdministrationOf, ListsWhoHoldsAndWhoWaitsAndWhy) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  const auto before = system_clock::now();
  const std::uint64_t older = first.acquire(1, {.mode = shared, .lease = 100s, .reason = "reading"}).number;
  const std::uint64_t newest = second.acquire(2, {.mode = shared, .lease = 200s}).number;
  second.acquire(3, {.lease = 300s, .reason = "writing \xc3\xa4 '\"%\n"});
  first.acquire(4, {.mode = shared, .lease = 400s, .reason = std::string(1024, 'r')});
  const auto after = system_clock::now();
  EXPECT_GT(newest, older);
  const auto locks = first.list();
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].name, "name");
  EXPECT_EQ(locks[0].number, newest);
  ASSERT_EQ(locks[0].holders.size(), 2U);
  ASSERT_EQ(locks[0].waiters.size(), 2U);
  const ClaimStatus& holder = locks[0].holders[0];
  EXPECT_EQ(holder.client.id, first.identity().id);
  EXPECT_EQ(holder.client.host, first.identity().host);
  EXPECT_EQ(holder.client.pid, first.identity().pid);
  EXPECT_EQ(holder.client.command, first.identity().command);
  EXPECT_EQ(holder.client.label, first.identity().label);
  EXPECT_EQ(holder.mode, ClaimMode::shared);
  EXPECT_EQ(holder.permits, 1U);
  EXPECT_EQ(holder.reason, "reading");
  EXPECT_GT(holder.lease_left, 80s);
  EXPECT_LE(holder.lease_left, 100s);
  EXPECT_GE(holder.since, before - 100ms);
  EXPECT_LE(holder.since, after + 100ms);
  EXPECT_EQ(locks[0].holders[1].client.id, second.identity().id);
  EXPECT_EQ(locks[0].holders[1].reason, "");
  EXPECT_EQ(locks[0].waiters[0].mode, ClaimMode::exclusive);
  EXPECT_EQ(locks[0].waiters[0].reason, "writing \xc3\xa4 '\"%\n");
  EXPECT_EQ(locks[0].waiters[0].client.id, second.identity().id);
  EXPECT_EQ(locks[0].waiters[1].mode, ClaimMode::shared);
  EXPECT_EQ(locks[0].waiters[1].reason, std::string(1024, 'r'));
  EXPECT_EQ(locks[0].waiters[1].client.id, first.identity().id);
  EXPECT_GT(locks[0].waiters[1].lease_left, 300s);
}

TEST_P(AdministrationOf, ListsPermitsAsALockOfTheirOwn) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(2, 5)});
  client.acquire(2, {.mode = permits(4, 5)});
  client.acquire(3);
  const auto locks = client.list();
  EXPECT_EQ(names_of(locks), Names({"name", "name"}));
  ASSERT_EQ(locks.size(), 2U);
  const LockStatus& lock = locks[0].holders.at(0).mode == ClaimMode::permits ? locks[1] : locks[0];
  const LockStatus& pool = locks[0].holders.at(0).mode == ClaimMode::permits ? locks[0] : locks[1];
  EXPECT_EQ(lock.holders.at(0).mode, ClaimMode::exclusive);
  EXPECT_EQ(lock.holders.at(0).permits, 1U);
  EXPECT_EQ(pool.holders.at(0).permits, 2U);
  EXPECT_EQ(pool.waiters.at(0).permits, 4U);
}

TEST_P(AdministrationOf, CountsSinceWhenFromTheGrant) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.acquire(2);
  const auto joined = client.list().at(0).waiters.at(0).since;
  client.release(1);
  const auto since = client.list().at(0).holders.at(0).since;
  EXPECT_GE(since, joined - 5ms);
  EXPECT_LE(since, system_clock::now() + 5ms);
}

TEST_P(AdministrationOf, ListsOnlyTheLiving) {
  BackendUnderTest client(url());
  client.acquire(1, {.name = "holder", .lease = 150ms});
  client.acquire(2, {.name = "line"});
  client.acquire(3, {.name = "line", .lease = 150ms, .reason = "dead"});
  client.acquire(4, {.name = "line", .reason = "alive"});
  EXPECT_TRUE(test::eventually([&] { return names_of(client.list()) == Names({"line"}); }));
  EXPECT_TRUE(test::eventually([&] { return client.list().at(0).waiters.size() == 1U; }));
  EXPECT_EQ(client.list().at(0).waiters.at(0).reason, "alive");
}

TEST_P(AdministrationOf, EvictsEveryHolderOfAName) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1, {.mode = shared});
  second.acquire(2, {.mode = shared});
  second.acquire(3);
  first.acquire(4, {.mode = permits(1, 1)});
  first.acquire(5, {.name = "another"});
  EXPECT_EQ(second.evict("name"), 3U);
  EXPECT_TRUE(first.is_told_to_check(1));
  EXPECT_TRUE(second.is_told_to_check(2));
  EXPECT_TRUE(first.is_told_to_check(4));
  EXPECT_TRUE(second.is_told_granted(3)) << "waiters move up";
  for (const int claim : {1, 2, 4}) EXPECT_EQ(first.renew(claim).standing, absent) << claim;
  EXPECT_EQ(first.look(5, "another").standing, granted);
  EXPECT_EQ(second.evict("nobody's"), 0U);
  EXPECT_EQ(second.evict("name"), 1U);
  EXPECT_EQ(names_of(first.list()), Names({"another"}));
}

TEST_P(AdministrationOf, LetsReadersInTogetherAfterAnEviction) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.acquire(2, {.mode = shared});
  client.acquire(3, {.mode = shared});
  EXPECT_EQ(client.evict(), 1U);
  EXPECT_TRUE(client.is_told_granted(2));
  EXPECT_TRUE(client.is_told_granted(3));
}

TEST_P(AdministrationOf, AsksTheHoldersToRelease) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  first.acquire(1, {.mode = shared});
  second.acquire(2, {.mode = shared});
  second.acquire(3);
  first.acquire(4, {.mode = permits(1, 1)});
  EXPECT_EQ(first.ask_to_release("name", "deploying"), 3U);
  EXPECT_EQ(first.ask_to_release("nobody's", "deploying"), 0U);
  EXPECT_EQ(first.renew(1).asked_to_release, "deploying");
  EXPECT_EQ(second.renew(2).asked_to_release, "deploying");
  EXPECT_EQ(second.look(2).asked_to_release, "deploying") << "and again";
  EXPECT_EQ(first.acquire(1, {.mode = shared}).asked_to_release, "deploying") << "in any answer";
  EXPECT_EQ(second.renew(3).asked_to_release, std::nullopt) << "it does not hold";
  EXPECT_EQ(first.look(4).asked_to_release, "deploying");
  EXPECT_EQ(first.ask_to_release("name", ""), 3U);
  EXPECT_EQ(first.look(1).asked_to_release, "");
  first.release(1);
  second.release(2);
  EXPECT_EQ(second.look(3).asked_to_release, std::nullopt) << "only those who held were asked";
}

TEST_P(AdministrationOf, KnowsTheTimeOfDay) {
  BackendUnderTest client(url());
  ASSERT_TRUE(client.traits().has_clock);
  const auto before = system_clock::now();
  const auto now = client.now();
  EXPECT_GE(now, before - 1s);
  EXPECT_LE(now, system_clock::now() + 1s);
}

TEST_P(AdministrationOf, SaysWhatItPromises) {
  BackendUnderTest client(url());
  const StoreTraits traits = client.traits();
  EXPECT_EQ(traits.store, GetParam().scheme);
  EXPECT_TRUE(traits.fifo && traits.shared && traits.permits) << "what this suite relies on";
  EXPECT_GT(traits.max_value_bytes, 0U);
}

}  // namespace
}  // namespace holdfast::spi_suite
