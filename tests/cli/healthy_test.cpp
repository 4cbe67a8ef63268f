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

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class Healthy : public World, public testing::WithParamInterface<const FixtureKind*> {
 protected:
  Healthy() { url = store_->url(); }

 private:
  const std::unique_ptr<Fixture> store_ = GetParam()->make_with_own_server();
};

// 10 s, because a lease is 3 s: with the default of 10 s, of which this has the proportions, it would take 31 s; and
// with 1 s a busy machine could be too slow for it, rightly. All of them wait side by side.
TEST_P(Healthy, CommandsAreLeftAloneForThreeLeases) {
  const std::vector<std::vector<std::string>> all_flags = {
      {"--ttl", "3s"}, {"--ttl", "3s", "--grace", "0s"}, {"--ttl", "3s", "--grace", "1m"}};
  std::vector<Process*> running;
  for (std::size_t i = 0; i < all_flags.size(); ++i) {
    running.push_back(&start_run("job-" + std::to_string(i), all_flags[i], "sleep 9.6; echo done"));
  }
  for (Process* process : running) {
    const Finished finished = process->finish(60s);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.output, "done\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Healthy, testing::ValuesIn(kinds_where([](const Capabilities& can) {
                           return can.separate_processes && can.servers == 1;
                         })),
                         name_of_store);

}  // namespace
}  // namespace holdfast::test
