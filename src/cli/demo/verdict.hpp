#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo/event.hpp"

namespace holdfast::cli::demo {

/// What really happened in one act.
struct ActRecord {
  std::vector<Event> events = {};    ///< in any order; each kind at most once per host
  std::vector<HostId> senders = {};  ///< of the messages that the gateway let out
};

/// The event, or null if it did not happen.
const Event* find(const ActRecord& record, HostId host, Event::Kind kind);
/// How long host-b had to wait for the lock after `kind` was done to host-a. REQUIRES: both happened.
std::chrono::milliseconds takeover_time(const ActRecord& record, Event::Kind kind);

/// Whether an act came out as it is told: empty, or what is wrong with it, for people. Each knows its act by heart and
/// believes only the record.
std::string objection_to_no_lock(const ActRecord& record);
std::string objection_to_once_per_hour(const ActRecord& record);
std::string objection_to_kill(const ActRecord& record);
std::string objection_to_pause(const ActRecord& record);

}  // namespace holdfast::cli::demo
