// What people on call do to a store: look, ask, evict.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "spi/stores.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"

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

/// Why the holder is asked to release, if it is.
std::optional<std::string> reason_in(const ClaimAnswer& answer) {
  if (!answer.asked_to_release) return std::nullopt;
  return answer.asked_to_release->reason;
}

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
  const LockStatus& lock = locks[0];
  const LockStatus& pool = locks[1];
  EXPECT_EQ(lock.kind, LockKind::lock);
  EXPECT_EQ(lock.total, 0U);
  EXPECT_EQ(pool.kind, LockKind::semaphore);
  EXPECT_EQ(pool.total, 5U);
  EXPECT_EQ(lock.holders.at(0).mode, ClaimMode::exclusive);
  EXPECT_EQ(lock.holders.at(0).permits, 1U);
  EXPECT_EQ(pool.holders.at(0).permits, 2U);
  EXPECT_EQ(pool.waiters.at(0).permits, 4U);
}

TEST_P(AdministrationOf, ShowsOneLockAsItIsListed) {
  BackendUnderTest client(url());
  client.acquire(1, {.mode = permits(2, 5), .reason = "filling"});
  client.acquire(2, {.mode = permits(4, 5), .reason = "more"});
  client.acquire(3, {.reason = "writing"});
  client.acquire(4, {.name = "name/below"});
  for (const LockStatus& listed : client.list("name")) {
    const auto shown = client.show(LockName(listed.name), listed.kind);
    ASSERT_TRUE(shown) << listed.name;
    EXPECT_EQ(shown->name, listed.name);
    EXPECT_EQ(shown->kind, listed.kind);
    EXPECT_EQ(shown->number, listed.number);
    EXPECT_EQ(shown->total, listed.total);
    ASSERT_EQ(shown->holders.size(), 1U);
    EXPECT_EQ(shown->holders[0].reason, listed.holders.at(0).reason);
    EXPECT_EQ(shown->holders[0].client.id, client.identity().id);
    EXPECT_EQ(shown->waiters.size(), listed.waiters.size());
  }
  EXPECT_FALSE(client.show("nam"));
  EXPECT_FALSE(client.show("name/below", LockKind::semaphore));
  EXPECT_FALSE(client.show("name/"));
}

TEST_P(AdministrationOf, ShowsOnlyTheLiving) {
  BackendUnderTest client(url());
  client.acquire(1, {.lease = 150ms});
  client.acquire(2, {.name = "line"});
  client.acquire(3, {.name = "line", .lease = 150ms, .reason = "dead"});
  client.acquire(4, {.name = "line", .reason = "alive"});
  let_lapse(client, 1);
  let_lapse(client, 3, "line");
  EXPECT_TRUE(test::eventually([&] { return !client.show("name"); }));
  EXPECT_TRUE(test::eventually([&] { return client.show("line")->waiters.size() == 1U; }));
  EXPECT_EQ(client.show("line")->waiters.at(0).reason, "alive");
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
  let_lapse(client, 1, "holder");
  let_lapse(client, 3, "line");
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
  EXPECT_EQ(second.evict("name"), 2U);
  EXPECT_EQ(first.look(4).standing, granted) << "a semaphore is another thing";
  EXPECT_EQ(second.evict("name", LockKind::semaphore), 1U);
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

TEST_P(AdministrationOf, EvictsUpToANumber) {
  BackendUnderTest client(url());
  const std::uint64_t first = client.acquire(1, {.mode = permits(1, 3)}).number;
  const std::uint64_t second = client.acquire(2, {.mode = permits(1, 3)}).number;
  client.acquire(3, {.mode = permits(1, 3)});
  client.acquire(4, {.mode = permits(2, 3)});
  EXPECT_EQ(client.evict("name", LockKind::semaphore, first - 1), 0U);
  EXPECT_EQ(client.evict("name", LockKind::lock, second), 0U);
  client.renew(1);  // whatever order the store keeps them in
  EXPECT_EQ(client.evict("name", LockKind::semaphore, second), 2U);
  EXPECT_EQ(client.look(1).standing, absent);
  EXPECT_EQ(client.look(2).standing, absent);
  EXPECT_EQ(client.look(3).standing, granted);
  EXPECT_TRUE(client.is_told_granted(4));
  EXPECT_EQ(client.evict("name", LockKind::semaphore, second), 0U) << "whoever came since is somebody else";
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
  EXPECT_EQ(first.ask_to_release("name", {.reason = "deploying"}), 2U);
  EXPECT_EQ(first.ask_to_release("nobody's", {.reason = "deploying"}), 0U);
  EXPECT_EQ(reason_in(first.renew(1)), "deploying");
  EXPECT_EQ(reason_in(second.renew(2)), "deploying");
  EXPECT_EQ(reason_in(second.look(2)), "deploying") << "and again";
  EXPECT_EQ(reason_in(first.acquire(1, {.mode = shared})), "deploying") << "in any answer";
  EXPECT_EQ(reason_in(second.renew(3)), std::nullopt) << "it does not hold";
  EXPECT_EQ(reason_in(first.look(4)), std::nullopt) << "a semaphore is another thing";
  EXPECT_EQ(first.ask_to_release("name", {.reason = "updating"}, LockKind::semaphore), 1U);
  EXPECT_EQ(reason_in(first.look(4)), "updating");
  EXPECT_EQ(first.ask_to_release("name", {}), 2U);
  EXPECT_EQ(reason_in(first.look(1)), "");
  first.release(1);
  second.release(2);
  EXPECT_EQ(reason_in(second.look(3)), std::nullopt) << "only those who held were asked";
}

TEST_P(AdministrationOf, SaysHowMuchTimeIsLeftToRelease) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.ask_to_release("name", {.reason = "soon", .within = 60s});
  const ClaimAnswer first = client.look(1);
  ASSERT_TRUE(first.asked_to_release);
  EXPECT_GT(first.asked_to_release->within, 30s);
  EXPECT_LE(first.asked_to_release->within, 60s);
  EXPECT_TRUE(
      test::eventually([&] { return client.look(1).asked_to_release->within < first.asked_to_release->within; }));
  client.ask_to_release("name", {.reason = "now", .within = 50ms});
  EXPECT_EQ(reason_in(client.look(1)), "now") << "a later request replaces an earlier one";
  EXPECT_TRUE(test::eventually([&] { return client.look(1).asked_to_release->within == 0ms; }));
  EXPECT_EQ(reason_in(client.renew(1)), "now") << "and stays";
  client.ask_to_release("name", {.within = milliseconds::max()});
  EXPECT_GT(client.look(1).asked_to_release->within, 1000h);
}

TEST_P(AdministrationOf, KnowsTheTimeOfDay) {
  BackendUnderTest client(url());
  if (!client.traits().has_clock) {
    EXPECT_EQ(errc_of(client.start_now()->result()), Errc::unsupported);
    return;
  }
  const auto before = system_clock::now();
  const auto now = client.now();
  EXPECT_GE(now, before - 1s);
  EXPECT_LE(now, system_clock::now() + 1s);
}

TEST_P(AdministrationOf, SaysWhatItPromises) {
  BackendUnderTest client(url());
  const StoreTraits traits = client.traits();
  EXPECT_EQ(traits.store, GetParam()->name);
  EXPECT_TRUE(traits.fifo && traits.shared && traits.permits) << "what this suite relies on";
  EXPECT_EQ(traits.lock_delay, can().lock_delay);
  EXPECT_GT(traits.max_value_bytes, 0U);
}

}  // namespace
}  // namespace holdfast::spi_suite
