// Negative controls: worlds with one deliberate mistake each. A checker that does not notice is no checker.

#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "sim/campaign.hpp"

namespace holdfast::sim {
namespace {

struct Control {
  std::string name;
  Mistakes mistakes;
  Rule broken;  ///< what the mistake must be seen to break
};

void PrintTo(const Control& control, std::ostream* out) { *out << control.name; }

class Controls : public testing::TestWithParam<Control> {};

TEST_P(Controls, AreCaughtWithinTheBudget) {
  const Control& control = GetParam();
  const CampaignResult result = run_campaign(CampaignOptions::from_environment(), control.mistakes, control.broken);
  ASSERT_TRUE(result.finding) << result.statistics.histories << " histories, and nobody noticed";
  std::cout << control.name << ": " << name_of(control.broken) << " broken after " << result.finding->after
            << " histories (seed " << result.finding->seed << "): " << result.finding->violation.what << '\n';
}

INSTANTIATE_TEST_SUITE_P(
    Simulation, Controls,
    testing::Values(
        Control{"RenewalRecreatesAClaim", {.store = {.renewal_recreates = true}}, Rule::gone_is_gone},
        Control{"VCountsFromTheReply", {.clients = {.mistakes = {.counts_from_reply = true}}}, Rule::exclusion},
        Control{"ReleaseByName", {.store = {.release_by_name = true}}, Rule::exclusion},
        Control{"WakeUpIsTrusted", {.clients = {.mistakes = {.trusts_hints = true}}}, Rule::exclusion},
        Control{"NumberIsReusedAfterExpiry", {.store = {.reuse_number_after_expiry = true}}, Rule::token_order},
        Control{"HandOffExtendsLease", {.store = {.hand_off_extends_lease = true}}, Rule::served_in_time},
        Control{"LocalHandOverHasNoBound", {.clients = {.unbounded_hand_over = true}}, Rule::fair_turns},
        Control{"ReadersJoinWithoutBound", {.clients = {.unbounded_hand_over = true}}, Rule::fair_joins},
        Control{"ReadersEnterBesideAWriter", {.store = {.readers_ignore_writers = true}}, Rule::exclusion},
        Control{"ReadersOvertakeWriters", {.store = {.readers_overtake = true}}, Rule::line_order},
        Control{"ExpiredPermitsAreCountedTwice", {.store = {.expiry_frees_twice = true}}, Rule::exclusion},
        Control{"DowngradeLetsGo", {.store = {.downgrade_lets_go = true}}, Rule::exclusion},
        Control{"LockDelayIsForgotten", {.store = {.forgets_lock_delay = true}}, Rule::lock_delay}),
    [](const auto& control) { return control.param.name; });

}  // namespace
}  // namespace holdfast::sim
