// Real processes under real harm, and what the checker says about it; and runs with a mistake, which it must notice.

#include "faults/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>

#include "faults/sqlite_store.hpp"

namespace holdfast::faults {
namespace {

using testing::IsEmpty;
using testing::Not;

/// A store of its own that several processes can reach, gone when destroyed.
struct Store {
  std::string url;
  std::shared_ptr<void> keeps;
};

struct StoreKind {
  std::string name;
  Store (*make)();
};

void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

Store make_sqlite() {
  auto store = std::make_shared<SqliteStore>();
  return {store->url(), store};
}

class Campaign : public testing::TestWithParam<StoreKind> {
 protected:
  CampaignOptions options() const { return CampaignOptions::from_environment(store_.url); }
  /// For a mistake that shows soon.
  CampaignOptions short_run() const {
    CampaignOptions options = this->options();
    options.duration = std::chrono::seconds(6);
    options.processes = 8;
    options.names = 1;
    return options;
  }

 private:
  Store store_ = GetParam().make();
};

CampaignResult run_and_print(const CampaignOptions& options) {
  std::cout << "seed " << options.seed << ", " << options.duration.count() << " ms\n";
  CampaignResult result = run_campaign(options);
  std::cout << result.summary();
  return result;
}

/// Whether a mistake is noticed. What harms is random, and a short run may be lucky; several in a row are not.
bool is_noticed(CampaignOptions options, sim::Rule rule) {
  for (int run = 0; run < 6; ++run, ++options.seed) {
    if (run_and_print(options).broke(rule)) return true;
  }
  return false;
}

/// For a run that failed, or whose history is wanted: everything that happened, in a file.
std::string keep(const CampaignResult& result, std::uint64_t seed) {
  const std::string file = testing::TempDir() + "holdfast-history-" + std::to_string(seed) + ".txt";
  std::ofstream(file) << to_text(history_of(result.recording));
  return "see " + file;
}

TEST_P(Campaign, KeepsEveryPromise) {
  const CampaignOptions options = this->options();
  const CampaignResult result = run_and_print(options);
  EXPECT_THAT(result.shortcomings(), IsEmpty()) << "the run is invalid";
  EXPECT_THAT(result.deaths, IsEmpty());
  EXPECT_EQ(result.statistics.other_errors, 0U);
  if (std::getenv("HOLDFAST_FAULTS_TRACE") != nullptr) std::cout << keep(result, options.seed) << '\n';
  EXPECT_TRUE(result.violations.empty()) << keep(result, options.seed);
}

TEST_P(Campaign, IsInvalidWithoutHarm) {
  CampaignOptions options = short_run();
  options.harm = false;
  options.duration = std::chrono::seconds(1);
  const CampaignResult result = run_and_print(options);
  EXPECT_THAT(result.shortcomings(), Not(IsEmpty()));
  EXPECT_TRUE(result.violations.empty()) << keep(result, options.seed);
}

TEST_P(Campaign, NoticesWorkersThatGoOnAfterALoss) {
  CampaignOptions options = short_run();
  options.mistakes.goes_on_after_loss = true;
  EXPECT_TRUE(is_noticed(options, sim::Rule::exclusion));
}

TEST_P(Campaign, NoticesAResourceWithoutAFence) {
  CampaignOptions options = short_run();
  options.mistakes.no_fence = true;
  EXPECT_TRUE(is_noticed(options, sim::Rule::fenced_writes));
}

INSTANTIATE_TEST_SUITE_P(Store, Campaign, testing::Values(StoreKind{"sqlite", &make_sqlite}),
                         [](const auto& kind) { return kind.param.name; });

/// Every process has a store of its own there, so nobody excludes anybody.
TEST(CampaignWithoutExclusion, IsNoticed) {
  CampaignOptions options = CampaignOptions::from_environment("memory:");
  options.duration = std::chrono::seconds(2);
  options.processes = 4;
  const CampaignResult result = run_and_print(options);
  EXPECT_TRUE(result.broke(sim::Rule::exclusion) || result.broke(sim::Rule::token_order));
}

}  // namespace
}  // namespace holdfast::faults
