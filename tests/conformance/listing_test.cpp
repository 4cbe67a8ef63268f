// Who holds what, since when, and who waits: what people on call ask.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::system_clock;
using test::Background;
using test::eventually;

// M47
TEST_P(ClientConformance, ShowsWhoHoldsALock) {
  const auto before = system_clock::now();
  Client client = open({.label = "billing"});
  const Client other = open();
  const Hold hold = Mutex(client, "report", {.ttl = 30s, .reason = "nightly report"}).acquire();
  const LockStatus status = other.show("report").value();
  EXPECT_EQ(status.name, "report");
  EXPECT_EQ(status.number, hold.token().value() >> 8);
  EXPECT_TRUE(status.waiters.empty());
  ASSERT_EQ(status.holders.size(), 1u);
  const ClaimStatus& holder = status.holders[0];
  EXPECT_EQ(holder.client.id, client.identity().id);
  EXPECT_EQ(holder.client.host, client.identity().host);
  EXPECT_EQ(holder.client.pid, client.identity().pid);
  EXPECT_EQ(holder.client.command, client.identity().command);
  EXPECT_EQ(holder.client.label, "billing");
  EXPECT_EQ(holder.mode, ClaimMode::exclusive);
  EXPECT_EQ(holder.permits, 1u);
  EXPECT_EQ(holder.reason, "nightly report");
  EXPECT_GE(holder.since, before - 1s);  // the store's clock may be another
  EXPECT_LE(holder.since, system_clock::now() + 1s);
  EXPECT_GT(holder.lease_left, 0ms);
  EXPECT_LE(holder.lease_left, 31s);
}

// M47
TEST_P(ClientConformance, ShowsWhoWaits) {
  Client holder = open();
  Client client = open({.label = "patient"});
  Hold hold = Mutex(holder, "report").acquire();
  Background waiter(
      [&](std::stop_token stop) { return Mutex(client, "report", {.reason = "next report"}).acquire(stop); });
  ASSERT_TRUE(line_becomes(holder, "report", 1));
  const LockStatus status = holder.show("report").value();
  ASSERT_EQ(status.holders.size(), 1u);
  ASSERT_EQ(status.waiters.size(), 1u);
  EXPECT_EQ(status.waiters[0].client.id, client.identity().id);
  EXPECT_EQ(status.waiters[0].client.label, "patient");
  EXPECT_EQ(status.waiters[0].reason, "next report");
  EXPECT_GT(status.waiters[0].lease_left, 0ms);
  hold.release();
  const Hold next = waiter.take();
  const LockStatus later = holder.show("report").value();
  ASSERT_EQ(later.holders.size(), 1u);
  EXPECT_EQ(later.holders[0].client.id, client.identity().id);
  EXPECT_TRUE(later.waiters.empty());
  EXPECT_GT(later.number, status.number);
}

TEST_P(ClientConformance, ShowsNothingOfAFreeLock) {
  Client client = open();
  EXPECT_FALSE(client.show("free").has_value());
  Hold hold = Mutex(client, "free").acquire();
  EXPECT_TRUE(client.show("free").has_value());
  hold.release();
  EXPECT_FALSE(client.show("free").has_value());
}

// M12
TEST_P(MutexConformance, AFailedTryLeavesNothing) {
  Client holder = open();
  Client client = open();
  const Hold hold = Mutex(holder, "taken").acquire();
  for (int round = 0; round < 20; ++round) {
    EXPECT_FALSE(Mutex(client, "taken").try_acquire());
    EXPECT_FALSE(Mutex(client, "taken").try_lock());
  }
  const LockStatus status = holder.show("taken").value();
  EXPECT_EQ(status.holders.size(), 1u);
  EXPECT_TRUE(status.waiters.empty());
  EXPECT_EQ(client.health().waiting, 0u);
  EXPECT_EQ(client.health().holds, 0u);
}

TEST_P(ListingConformance, ListsByNameWhatBeginsWithThePrefix) {
  Client client = open();
  std::vector<Hold> holds;
  for (const char* name : {"job/2", "job/10", "job", "jobs", "Job/1", "other"}) {
    holds.push_back(Mutex(client, name).acquire());
  }
  const auto names = [&](std::string_view prefix) {
    std::vector<std::string> found;
    for (const LockStatus& status : client.list(prefix)) found.push_back(status.name);
    return found;
  };
  EXPECT_EQ(names(""), (std::vector<std::string>{"Job/1", "job", "job/10", "job/2", "jobs", "other"}));
  EXPECT_EQ(names("job/"), (std::vector<std::string>{"job/10", "job/2"}));
  EXPECT_EQ(names("job"), (std::vector<std::string>{"job", "job/10", "job/2", "jobs"}));
  EXPECT_EQ(names("nothing"), std::vector<std::string>());
}

TEST_P(ListingConformance, ListsAFreshStoreAsEmpty) {
  const Client client = open();
  EXPECT_TRUE(client.list().empty());
}

TEST_P(ListingConformance, ListsManyLocks) {
  Client client = open();
  std::vector<Hold> holds;
  const int many = rounds(1000);
  for (int number = 0; number < many; ++number) {
    holds.push_back(Mutex(client, "many/" + std::to_string(number)).acquire());
  }
  EXPECT_EQ(client.list("many/").size(), static_cast<std::size_t>(many));
  EXPECT_EQ(client.health().holds, static_cast<std::size_t>(many));
  holds.clear();
  EXPECT_TRUE(eventually([&] { return client.list().empty(); }));
  EXPECT_EQ(client.health().holds, 0u);
}

TEST_P(NoListingConformance, IsRefusedWithTheReasonButShowsOneLock) {
  Client client = open();
  const Hold hold = Mutex(client, "job/1").acquire();
  for (const std::string prefix : {"", "job", "job/1"}) {
    EXPECT_EQ(test::errc_of([&] { static_cast<void>(client.list(prefix)); }), Errc::unsupported);
  }
  EXPECT_TRUE(client.show("job/1"));
  EXPECT_FALSE(client.show("job"));
}

TEST_P(ClientConformance, HealthCounts) {
  Client client = open();
  Mutex mutex(client, "mine", {.ttl = steady_ttl()});
  Hold hold = mutex.acquire();
  Health health = client.health();
  EXPECT_EQ(health.contact, Health::Contact::good);
  EXPECT_LT(health.since_contact, test::patience);
  EXPECT_EQ(health.holds, 1u);
  EXPECT_EQ(health.at_risk, 0u);
  EXPECT_EQ(health.waiting, 0u);
  EXPECT_EQ(health.grants, 1u);
  EXPECT_EQ(health.local_turns, 0u);

  Background waiter([&](std::stop_token stop) { return mutex.acquire(stop); });
  EXPECT_TRUE(waiting_becomes(client, 1));
  EXPECT_TRUE(eventually([&] { return client.health().renewals >= 2; }));
  hold.release();
  hold = waiter.take();
  health = client.health();
  EXPECT_EQ(health.waiting, 0u);
  EXPECT_EQ(health.holds, 1u);
  EXPECT_EQ(health.grants + health.local_turns, 2u);

  EXPECT_TRUE(client.evict("mine"));
  EXPECT_TRUE(eventually([&] { return client.health().lost == 1; }));
  EXPECT_EQ(client.health().holds, 0u);
}

}  // namespace
}  // namespace holdfast::conformance
