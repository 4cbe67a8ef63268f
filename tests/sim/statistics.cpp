#include "sim/statistics.hpp"

#include <sstream>

namespace holdfast::sim {

Statistics& Statistics::operator+=(const Statistics& other) {
  histories += other.histories;
  operations += other.operations;
  requests += other.requests;
  grants += other.grants;
  local_turns += other.local_turns;
  shared += other.shared;
  permits += other.permits;
  downgrades += other.downgrades;
  moves += other.moves;
  delayed += other.delayed;
  losses += other.losses;
  takeovers += other.takeovers;
  stale_releases += other.stale_releases;
  stale_writes += other.stale_writes;
  renewals += other.renewals;
  failed_renewals += other.failed_renewals;
  at_risk += other.at_risk;
  recoveries += other.recoveries;
  faults += other.faults;
  crashes += other.crashes;
  pauses += other.pauses;
  closings += other.closings;
  steps += other.steps;
  network.messages += other.network.messages;
  network.lost += other.network.lost;
  network.refused += other.network.refused;
  network.repeated += other.network.repeated;
  network.late += other.network.late;
  simulated += other.simulated;
  return *this;
}

void Statistics::count(const History& history) {
  ++histories;
  std::vector<bool> delays;
  std::vector<bool> seen;
  for (const Event& event : history.events) {
    if (event.what <= What::wrote && seen.size() <= event.subject) {
      seen.resize(event.subject + 1U);
      delays.resize(event.subject + 1U);
    }
    switch (event.what) {
      case What::entered:
        ++requests;
        ++operations;
        delays[event.subject] = event.lock_delay > 0;
        break;
      case What::granted:
        shared += static_cast<ClaimMode>(event.mode) == ClaimMode::shared ? 1 : 0;
        permits += static_cast<ClaimMode>(event.mode) == ClaimMode::permits ? 1 : 0;
        seen[event.subject] = false;
        break;
      case What::holds_on:
        moves += seen[event.subject] ? 1U : 0U;
        seen[event.subject] = true;
        break;
      case What::downgraded: downgrades += event.detail == 0 ? 1 : 0; break;
      case What::lost: delayed += delays[event.subject] ? 1U : 0U; break;
      case What::downgrades:
      case What::cancels:
      case What::releases:
      case What::extends: ++operations; break;
      case What::wrote:
        ++operations;
        stale_writes += event.detail == 0 ? 1 : 0;
        break;
      case What::told:
        at_risk += static_cast<HoldState>(event.detail) == HoldState::at_risk ? 1 : 0;
        recoveries += static_cast<HoldState>(event.detail) == HoldState::held ? 1 : 0;
        break;
      case What::crashed: ++crashes; break;
      case What::paused: ++pauses; break;
      case What::closing: ++closings; break;
      default: break;
    }
  }
}

std::string to_text(const Statistics& statistics) {
  std::ostringstream text;
  const auto line = [&](const char* what, std::uint64_t count) {
    text.width(12);
    text << count << "  " << what << '\n';
  };
  line("histories", statistics.histories);
  line("seconds of virtual time",
       static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(statistics.simulated).count()));
  line("operations", statistics.operations);
  line("requests for a lock", statistics.requests);
  line("grants by the store", statistics.grants);
  line("local turns", statistics.local_turns);
  line("holds granted to readers", statistics.shared);
  line("holds granted of semaphores", statistics.permits);
  line("downgrades", statistics.downgrades);
  line("readers moved to a newer claim", statistics.moves);
  line("holds with a lock delay that ended by themselves", statistics.delayed);
  line("holds lost", statistics.losses);
  line("takeovers from expired holders", statistics.takeovers);
  line("stale releases refused", statistics.stale_releases);
  line("stale writes refused", statistics.stale_writes);
  line("renewals", statistics.renewals);
  line("renewals failed", statistics.failed_renewals);
  line("users told at_risk", statistics.at_risk);
  line("users told held again", statistics.recoveries);
  line("faults planned", statistics.faults);
  line("crashes", statistics.crashes);
  line("pauses", statistics.pauses);
  line("clients closed and opened again, or closed at the end", statistics.closings);
  line("messages", statistics.network.messages);
  line("messages lost", statistics.network.lost);
  line("requests refused", statistics.network.refused);
  line("messages repeated", statistics.network.repeated);
  line("messages late", statistics.network.late);
  line("steps", statistics.steps);
  return text.str();
}

}  // namespace holdfast::sim
