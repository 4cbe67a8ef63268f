#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/checker.hpp"
#include "sim/plan.hpp"
#include "sim/statistics.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// How many histories to run, and which. Each is independent, so several threads share them.
struct CampaignOptions {
  std::uint64_t histories = 2'000;
  std::uint64_t first_seed = 1;
  unsigned threads = 1;
  bool trace = false;  ///< prints every plan and history: for few of them

  /// HOLDFAST_SIM_HISTORIES, HOLDFAST_SIM_SEED, HOLDFAST_SIM_THREADS (default: as many as there are processors),
  /// HOLDFAST_SIM_TRACE.
  static CampaignOptions from_environment();
};

/// The first history that broke a rule.
struct Finding {
  std::uint64_t seed = 0;
  std::uint64_t after = 0;  ///< so many histories, itself included
  Violation violation;
};

struct CampaignResult {
  Statistics statistics = {};
  std::optional<Finding> finding = {};
  double seconds = 0;
};

/// Runs histories until all are done, or one breaks a rule; of several, the one with the smallest seed is reported, so
/// that the result does not depend on the number of threads. `only`: look for violations of this rule alone.
CampaignResult run_campaign(const CampaignOptions& options, const Mistakes& mistakes = {},
                            std::optional<Rule> only = {});

/// Everything one needs to know about a finding: the plan, made as small as it goes, and what happened.
std::string explain(const Finding& finding, const Mistakes& mistakes = {});

}  // namespace holdfast::sim
