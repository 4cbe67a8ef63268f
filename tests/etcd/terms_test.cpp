// Another leader is elected, and the one before it comes back.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::EtcdServer;
using test::eventually;

/// The servers end leases with the time of their own clocks, twice a second.
constexpr auto time_for_mischief = 1500ms;

/// Of how many leases a server tells.
long lease_count(const EtcdServer& cluster) {
  const std::string list = cluster.command({"lease", "list"});
  return std::ranges::count(list, '\n') - 1;  // without the headline
}

TEST(EtcdTerms, ADeposedLeaderThatComesBackTakesNoLockAway) {
  EtcdServer cluster({.servers = 3});
  Client client(cluster.url());
  std::vector<Hold> holds;
  for (int i = 0; i < 20; ++i) holds.push_back(Mutex(client, "name-" + std::to_string(i), {.ttl = 3s}).acquire());
  const std::size_t old = cluster.leader();
  cluster.pause(old);
  ASSERT_TRUE(eventually([&] { return cluster.leader_beside(old) < cluster.size(); }));
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 3 * holds.size(); }));
  cluster.resume(old);
  EXPECT_FALSE(eventually(time_for_mischief, [&] { return client.health().lost > 0; }));
  for (const Hold& hold : holds) EXPECT_TRUE(hold.valid());
  EXPECT_EQ(lease_count(cluster), 1) << "they share one, as before";
}

}  // namespace
}  // namespace holdfast::etcd_suite
