#include "holdfast/version.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/help/traits_text.hpp"
#include "cli/world.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Traits, AreSaidInWords) {
  EXPECT_EQ(cli::in_words({.store = "best",
                           .lease_scope = StoreTraits::LeaseScope::claim,
                           .has_clock = true,
                           .fifo = true,
                           .durable_tokens = true,
                           .shared_between_processes = true,
                           .max_value_bytes = 1 << 20}),
            "store:      best\n"
            "reach:      every process that can open it\n"
            "order:      first come, first served\n"
            "lease:      each lock has its own; shortest 20ms\n"
            "tokens:     rise for ever, restarts included\n"
            "shared:     locks can be shared by readers\n"
            "permits:    semaphores\n"
            "delay:      a lock can stay closed for a while after its holder has died\n"
            "registers:  values with versions\n"
            "listing:    all locks\n"
            "asking:     holders can be asked to release a lock\n"
            "clock:      the store tells the time\n"
            "failover:   loses nothing\n"
            "values:     up to 1 MiB\n");
  EXPECT_EQ(
      cli::in_words({.store = "worst",
                     .lease_scope = StoreTraits::LeaseScope::session,
                     .min_ttl = 2s,
                     .fixed_leases = false,
                     .shared = false,
                     .permits = false,
                     .registers = false,
                     .lock_delay = false,
                     .lists = false,
                     .release_requests = false,
                     .failover_may_lose = "the last second",
                     .max_value_bytes = 1000}),
      "store:      worst\n"
      "reach:      this process only\n"
      "order:      none; any waiter may be next\n"
      "lease:      all locks of a client share one; shortest 2s with the usual settings of servers; always renewed\n"
      "tokens:     rise until the store is restarted\n"
      "shared:     no shared locks\n"
      "permits:    no semaphores\n"
      "delay:      no delay after a holder has died\n"
      "registers:  no registers\n"
      "listing:    none; one lock at a time, by its name\n"
      "asking:     holders cannot be asked\n"
      "clock:      none; each host's own is used\n"
      "failover:   may lose: the last second\n"
      "values:     up to 1000 bytes\n");
}

class VersionOfAStore : public World {};

TEST_F(VersionOfAStore, SaysWhatItPromises) {
  const Finished finished = run(tool({"version", "-u", url}));
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, StartsWith("holdfast " + std::string(version) + "\nstore:      sqlite\nreach: "));
  EXPECT_THAT(run(tool({"version", "-u", "memory:"})).output, HasSubstr("reach:      this process only"));
}

TEST_F(VersionOfAStore, IsJsonOnDemand) {
  const Json json = Json::parse(run(tool({"version", "--json", "-u", url})).output);
  EXPECT_EQ(json["version"], version);
  EXPECT_EQ(json["traits"]["store"], "sqlite");
  EXPECT_EQ(json["traits"]["durable_tokens"], true);
  EXPECT_EQ(json["traits"]["min_ttl_ms"], 20);
  EXPECT_EQ(Json::parse(run(tool({"version", "--json"})).output), (Json{{"version", version}}));
}

TEST_F(VersionOfAStore, IsNotToldBeforeItAnswers) {
  std::ofstream(folder / "locks.db") << std::string(8192, 'x');  // no database
  const Finished broken = run(tool({"version", "-u", url}));
  EXPECT_EQ(broken.code, 69);
  EXPECT_EQ(broken.output, "");
  EXPECT_THAT(broken.errors, HasSubstr("locks.db"));
  EXPECT_EQ(run(tool({"version", "-u", "nosuchstore:"})).code, 78);
  EXPECT_EQ(run(tool({"version", "-u", ""})).code, 78);
}

}  // namespace
}  // namespace holdfast::test
