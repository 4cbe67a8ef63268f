#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "faults/store.hpp"
#include "faults/tool_diary.hpp"

namespace holdfast::faults {

/// One run against `store`: many tools take turns with commands that have children and grandchildren, under two locks
/// and an election, while processes are killed and stopped.
struct ToolCampaignOptions {
  Store* store = nullptr;
  std::vector<Sabotage> sabotages = {};  ///< what is done to the store itself, now and then
  milliseconds duration = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  std::size_t tools = 16;  ///< with their guardians and three commands with two descendants each: 41 processes
  milliseconds ttl = std::chrono::seconds(2);
  std::vector<std::string> flags = {};  ///< of every tool, for controls
  bool only_kills_tools = false;
  std::uint64_t least_kills = 0;  ///< of tools: it goes on until there were so many

  /// HOLDFAST_FAULTS_SECONDS (10), HOLDFAST_FAULTS_SEED (of the clock; it is printed).
  static ToolCampaignOptions from_environment(Store& store);
};

/// What was done to the processes of a tool that had its lock.
enum class ToolHarm : std::uint8_t {
  kill_tool,
  kill_guardian,
  kill_command,
  stop_tool_briefly,
  stop_tool,  ///< for longer than its lease
  stop_guardian,
  stop_command,
};
inline constexpr std::size_t tool_harms = 7;
std::string_view name_of(ToolHarm harm);

struct ToolCampaignResult {
  std::array<std::uint64_t, tool_harms> harms = {};
  std::uint64_t sabotages = 0;
  bool wants_sabotage = false;
  std::vector<ToolNote> notes = {};
  std::map<int, std::uint64_t> codes = {};  ///< how often tools ended with which exit code
  std::vector<std::string> surprises = {};  ///< tools that ended in a way they should not have, or not at all
  std::vector<std::string> violations = {};
  std::vector<std::string> story = {};  ///< every harm, when and to whose processes; times as in the notes
  std::vector<Stall> stalls = {};       ///< when the machine was seen to stand still

  std::uint64_t count(ToolHarm harm) const { return harms.at(static_cast<std::size_t>(harm)); }
  std::uint64_t entries() const;
  /// Why the run says nothing. Empty: it counts.
  std::vector<std::string> shortcomings() const;
  /// For people.
  std::string summary() const;
};

ToolCampaignResult run_tool_campaign(const ToolCampaignOptions& options);

}  // namespace holdfast::faults
