// A command under a lock that is well is left alone: the lease is renewed in time on every store, and the guardian
// hears of it in time.
//
// How long a lease lasts after a renewal differs. ZooKeeper proves only that a session was alive a while ago, so what
// is left there goes up and down between 0.3 and 0.65 of the ttl, where it is between 0.65 and 1 on other stores.
// Nothing but a command that runs for several leases shows whether both the tool and its guardian can live with that.

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/world.hpp"
#include "stores/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class Healthy : public World, public testing::WithParamInterface<const FixtureKind*> {
 protected:
  Healthy() { url = store_->url(); }

 private:
  const std::unique_ptr<Fixture> store_ = GetParam()->make_with_own_server();
};

// 31 s, because the default ttl is 10 s, and the defaults are what most people use. The others have a ttl of 3 s: with
// 1 s a busy machine could be too slow for it, rightly. All of them wait side by side, and cost nothing.
TEST_P(Healthy, CommandsAreLeftAloneForThreeLeases) {
  const std::vector<std::vector<std::string>> all_flags = {
      {"--ttl", "3s"}, {"--ttl", "3s", "--grace", "0s"}, {"--ttl", "3s", "--grace", "1m"}};
  std::vector<Process*> running = {&start_run("defaults", {}, "sleep 31; echo done")};
  for (std::size_t i = 0; i < all_flags.size(); ++i) {
    running.push_back(&start_run("job-" + std::to_string(i), all_flags[i], "sleep 9.6; echo done"));
  }
  for (Process* process : running) {
    const Finished finished = process->finish(120s);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.output, "done\n");
  }
}

class HealthyFarAway : public Healthy {};

/// The first lease of a session is another one than those that follow: it is proved in full, and then for two renewals
/// nothing more need be. And the first renewal may have to make what the others only write to, one request after the
/// other.
TEST_P(HealthyFarAway, CommandsAreLeftAloneInTheirFirstLease) {
  Proxy proxy(port_in(url));
  proxy.delay(100ms);
  url = GetParam()->url_at(proxy.address());
  const Finished finished = run_script("job", {"--ttl", "8s"}, "sleep 9; echo done");
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_EQ(finished.output, "done\n");
}

INSTANTIATE_TEST_SUITE_P(Store, Healthy, testing::ValuesIn(kinds_where([](const Capabilities& can) {
                           return can.separate_processes && can.servers == 1;
                         })),
                         name_of_store);
INSTANTIATE_TEST_SUITE_P(Store, HealthyFarAway, testing::ValuesIn(kinds_where([](const Capabilities& can) {
                           return can.has_server && can.servers == 1;
                         })),
                         name_of_store);

}  // namespace
}  // namespace holdfast::test
