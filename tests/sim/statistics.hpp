#pragma once

#include <cstdint>
#include <string>

#include "sim/history.hpp"
#include "sim/network.hpp"

namespace holdfast::sim {

/// What a run has seen, so that nobody believes a run in which nothing happened.
struct Statistics {
  std::uint64_t histories = 0;
  std::uint64_t operations = 0;  ///< entering, cancelling, releasing, extending, writing
  std::uint64_t requests = 0;    ///< of these, entering
  std::uint64_t grants = 0;      ///< by the store
  std::uint64_t local_turns = 0;
  std::uint64_t shared = 0;      ///< holds granted to readers
  std::uint64_t permits = 0;     ///< holds granted of semaphores
  std::uint64_t downgrades = 0;  ///< that the store has confirmed
  std::uint64_t moves = 0;       ///< of readers to another claim
  std::uint64_t delayed = 0;     ///< holds that ended by themselves, with a lock delay
  std::uint64_t losses = 0;
  std::uint64_t takeovers = 0;  ///< grants after a holder's lease had ended
  std::uint64_t stale_releases = 0;
  std::uint64_t stale_writes = 0;
  std::uint64_t renewals = 0;
  std::uint64_t failed_renewals = 0;
  std::uint64_t at_risk = 0;
  std::uint64_t recoveries = 0;  ///< from at_risk
  std::uint64_t faults = 0;
  std::uint64_t crashes = 0;
  std::uint64_t pauses = 0;
  std::uint64_t closings = 0;
  std::uint64_t steps = 0;
  Network::Counters network = {};
  Duration simulated = {};

  Statistics& operator+=(const Statistics& other);
  void count(const History& history);
};

/// For people.
std::string to_text(const Statistics& statistics);

}  // namespace holdfast::sim
