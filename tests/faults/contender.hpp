#pragma once

#include <string_view>

namespace holdfast::faults {

inline constexpr std::string_view contender_argument = "--holdfast-contender";
inline constexpr int arena_fd = 3;  ///< of a contender: the Arena
inline constexpr int log_fd = 4;    ///< of a contender: its Log

/// Whether this program was started by faults/fleet.hpp, as one of many that contend for the locks of an Arena.
bool is_contender(int argc, char** argv);
/// The main() of such a program. Ends when the arena says so and every thread has had its last turn.
[[noreturn]] void run_contender(char** argv);

}  // namespace holdfast::faults
