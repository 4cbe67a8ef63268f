#pragma once

#include <string_view>

/// What the primitives keep in the store beside locks and registers of the user's own name: see spi::PartName.
namespace holdfast::core {

constexpr std::string_view election_part = "election";  ///< a lock: whoever holds it leads
constexpr std::string_view leader_part = "leader";      ///< a register: what the leaders published
constexpr std::string_view once_part = "once";          ///< a register: the last successful run
constexpr std::string_view latch_part = "latch";        ///< a register: how many are missing
constexpr std::string_view barrier_part = "barrier";    ///< a register: how many phases are complete
constexpr std::string_view phase_part = "phase/";       ///< and the phase's number, a semaphore: who has arrived

}  // namespace holdfast::core
