#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faults/arena.hpp"
#include "faults/nemesis.hpp"
#include "faults/recording.hpp"

namespace holdfast::faults {

/// One run against the store at `url`: a fleet contends for a few locks while a nemesis does it harm.
struct CampaignOptions {
  std::string url = {};
  milliseconds duration = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  std::uint8_t processes = 16;
  std::uint8_t threads = 4;
  std::uint8_t names = 3;
  milliseconds ttl = std::chrono::seconds(1);
  bool harm = true;                           ///< whether there is a nemesis at all
  std::optional<SabotagePlan> sabotage = {};  ///< what it does to the store as well
  bool conceals_losses = false;  ///< a mistake: nobody tells the checker that the store has forgotten everything
  Mistakes mistakes = {};

  /// HOLDFAST_FAULTS_SECONDS (10), HOLDFAST_FAULTS_SEED (of the clock; it is printed).
  static CampaignOptions from_environment(std::string url);
};

struct CampaignResult {
  std::optional<Sabotage> sabotage = {};
  Recording recording;
  Harm harm;
  Statistics statistics;
  std::vector<sim::Violation> violations;
  std::vector<std::string> deaths;  ///< of processes that died by themselves

  /// Why the run says nothing: a kind of harm that was not done, or that did no damage where it must. Empty: it counts.
  std::vector<std::string> shortcomings() const;
  bool broke(sim::Rule rule) const;
  /// For people.
  std::string summary() const;
};

CampaignResult run_campaign(const CampaignOptions& options);

}  // namespace holdfast::faults
