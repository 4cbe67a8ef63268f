// Real processes under real harm, and what the checker says about it; and runs with a mistake, which it must notice.

#include "faults/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "faults/store.hpp"

namespace holdfast::faults {
namespace {

using testing::IsEmpty;
using testing::Not;

class Campaign : public testing::TestWithParam<StoreKind> {
 protected:
  CampaignOptions options() const {
    CampaignOptions options = CampaignOptions::from_environment(store_->url());
    options.ttl = GetParam().lease;
    return options;
  }
  /// For a mistake that shows soon.
  CampaignOptions short_run() const {
    CampaignOptions options = this->options();
    options.duration = std::chrono::seconds(6);
    options.processes = 8;
    options.names = 1;
    return options;
  }

 private:
  const std::unique_ptr<Store> store_ = GetParam().make();
};

CampaignResult run_and_print(const CampaignOptions& options) {
  std::cout << "seed " << options.seed << ", " << options.duration.count() << " ms\n";
  CampaignResult result = run_campaign(options);
  std::cout << result.summary();
  return result;
}

/// Whether a mistake is noticed. What harms is random, and on a busy machine little happens: a short run may be lucky,
/// several that become longer are not.
bool is_noticed(CampaignOptions options, sim::Rule rule) {
  for (int run = 0; run < 8; ++run) {
    if (run_and_print(options).broke(rule)) return true;
    ++options.seed;
    options.duration += options.duration / 2;
  }
  return false;
}

/// For a run that failed, or whose history is wanted: everything that happened, in a file.
std::string keep(const CampaignResult& result, std::uint64_t seed) {
  const std::string file = testing::TempDir() + "holdfast-history-" + std::to_string(seed) + ".txt";
  std::ofstream(file) << to_text(history_of(result.recording));
  return "see " + file;
}

/// A run in which too little happened, as on a busy machine, is followed by one that is twice as long.
void expect_every_promise_kept(CampaignOptions options) {
  std::vector<std::string> shortcomings;
  for (int run = 0; run < 4; ++run) {
    const CampaignResult result = run_and_print(options);
    EXPECT_THAT(result.deaths, IsEmpty());
    EXPECT_EQ(result.statistics.other_errors, 0U);
    if (std::getenv("HOLDFAST_FAULTS_TRACE") != nullptr) std::cout << keep(result, options.seed) << '\n';
    EXPECT_TRUE(result.violations.empty()) << keep(result, options.seed);
    shortcomings = result.shortcomings();
    if (shortcomings.empty() || testing::Test::HasFailure()) return;
    ++options.seed;
    options.duration *= 2;
  }
  EXPECT_THAT(shortcomings, IsEmpty()) << "even the longest run is invalid";
}

TEST_P(Campaign, KeepsEveryPromise) { expect_every_promise_kept(options()); }

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

INSTANTIATE_TEST_SUITE_P(Store, Campaign, testing::ValuesIn(kinds_with_one_server()),
                         [](const auto& kind) { return kind.param.name; });

struct SabotageCase {
  StoreKind kind;
  Sabotage sabotage;
};

void PrintTo(const SabotageCase& it, std::ostream* out) { *out << it.kind.name << ' ' << name_of(it.sabotage); }

std::string text_of(const testing::TestParamInfo<SabotageCase>& it) {
  return it.param.kind.name + "_" + std::string(name_of(it.param.sabotage));
}

std::vector<SabotageCase> cases_of(std::vector<Sabotage> StoreKind::* sabotages) {
  std::vector<SabotageCase> cases;
  for (const StoreKind& kind : store_kinds()) {
    for (const Sabotage sabotage : kind.*sabotages) cases.push_back({kind, sabotage});
  }
  return cases;
}

/// With harm to the store itself as well.
class SabotagedCampaign : public testing::TestWithParam<SabotageCase> {
 protected:
  CampaignOptions options() const {
    CampaignOptions options = CampaignOptions::from_environment(store_->url());
    options.ttl = GetParam().kind.lease;
    options.sabotage.emplace(*store_, GetParam().sabotage);
    return options;
  }

 private:
  const std::unique_ptr<Store> store_ = GetParam().kind.make();
};

TEST_P(SabotagedCampaign, KeepsEveryPromise) { expect_every_promise_kept(options()); }

INSTANTIATE_TEST_SUITE_P(Store, SabotagedCampaign, testing::ValuesIn(cases_of(&StoreKind::sabotages)), &text_of);

/// With harm that no store survives: the checker must notice that tokens are given out again.
class HopelessCampaign : public SabotagedCampaign {};

TEST_P(HopelessCampaign, IsNoticed) {
  CampaignOptions options = this->options();
  options.duration = std::chrono::seconds(5);
  EXPECT_TRUE(is_noticed(options, sim::Rule::token_order));
}

INSTANTIATE_TEST_SUITE_P(Store, HopelessCampaign, testing::ValuesIn(cases_of(&StoreKind::controls)), &text_of);

/// With a store that loses its data and a checker that does not know it: two hold a lock.
class ForgetfulCampaign : public SabotagedCampaign {};

TEST_P(ForgetfulCampaign, IsNoticed) {
  CampaignOptions options = this->options();
  options.conceals_losses = true;
  options.duration = std::chrono::seconds(5);
  EXPECT_TRUE(is_noticed(options, sim::Rule::exclusion));
}

std::vector<SabotageCase> forgetting_cases() {
  std::vector<SabotageCase> cases = cases_of(&StoreKind::sabotages);
  std::erase_if(cases, [](const SabotageCase& it) {
    return it.sabotage != Sabotage::forget && it.sabotage != Sabotage::end_leases;
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Store, ForgetfulCampaign, testing::ValuesIn(forgetting_cases()), &text_of);

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
