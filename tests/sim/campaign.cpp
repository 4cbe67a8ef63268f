#include "sim/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "sim/shrink.hpp"

namespace holdfast::sim {

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread is started
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What the threads of a campaign share.
class Campaign {
 public:
  Campaign(const CampaignOptions& options, const Mistakes& mistakes, std::optional<Rule> only)
      : options_(options), mistakes_(mistakes), only_(only), end_(options.histories) {}

  /// Takes one history after the other, until there are none, or none that could still matter.
  void work() {
    World world;
    Statistics statistics;
    for (std::uint64_t index = next_++; index < end_; index = next_++) {
      const Plan plan = make_plan(options_.first_seed + index);
      const History& history = world.run(plan, mistakes_);
      if (options_.trace) print(plan, history);
      world.count(statistics);
      for (Violation& violation : check(history)) {
        if (only_ && violation.rule != *only_) continue;
        found({plan.seed, index + 1, std::move(violation)});
        break;
      }
    }
    const std::lock_guard lock(mutex_);
    result_.statistics += statistics;
  }

  CampaignResult result() && { return std::move(result_); }

 private:
  void found(Finding finding) {
    const std::lock_guard lock(mutex_);
    if (result_.finding && result_.finding->after < finding.after) return;
    end_ = finding.after;
    result_.finding = std::move(finding);
  }

  void print(const Plan& plan, const History& history) {
    const std::lock_guard lock(mutex_);
    std::cout << to_text(plan) << to_text(history);
  }

  const CampaignOptions& options_;
  const Mistakes& mistakes_;
  const std::optional<Rule> only_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> end_;
  std::mutex mutex_;
  CampaignResult result_;
};

}  // namespace

CampaignOptions CampaignOptions::from_environment() {
  CampaignOptions options;
  options.histories = number_from("HOLDFAST_SIM_HISTORIES", options.histories);
  options.first_seed = number_from("HOLDFAST_SIM_SEED", options.first_seed);
  const std::uint64_t processors = std::max(std::thread::hardware_concurrency(), 1U);
  options.threads = static_cast<unsigned>(std::max<std::uint64_t>(number_from("HOLDFAST_SIM_THREADS", processors), 1));
  options.trace = number_from("HOLDFAST_SIM_TRACE", 0) != 0;
  return options;
}

CampaignResult run_campaign(const CampaignOptions& options, const Mistakes& mistakes, std::optional<Rule> only) {
  const auto began = std::chrono::steady_clock::now();
  Campaign campaign(options, mistakes, only);
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < options.threads; ++i) helpers.emplace_back([&] { campaign.work(); });
  campaign.work();
  for (std::thread& helper : helpers) helper.join();
  CampaignResult result = std::move(campaign).result();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

std::string explain(const Finding& finding, const Mistakes& mistakes) {
  const Plan small = shrink(make_plan(finding.seed), mistakes, finding.violation.rule);
  World world;
  const History& history = world.run(small, mistakes);
  std::ostringstream text;
  text << "rule broken: " << name_of(finding.violation.rule) << ": " << finding.violation.what << "\n"
       << "replay: HOLDFAST_SIM_SEED=" << finding.seed << " HOLDFAST_SIM_HISTORIES=1\n\n"
       << "the plan, made smaller:\n"
       << to_text(small) << "\nwhat happens then:\n"
       << to_text(history) << '\n';
  for (const Violation& violation : check(history)) {
    text << "at " << static_cast<double>(violation.at.time_since_epoch().count()) / 1e6 << " ms, "
         << name_of(violation.rule) << ": " << violation.what << '\n';
  }
  return text.str();
}

}  // namespace holdfast::sim
