#pragma once

#include <chrono>
#include <string>

#include "holdfast/status.hpp"

namespace holdfast::cli {

/// All that is known about a lock but its name, a line for each fact: its holders, then its waiters in order.
/// Printable.
std::string details_of(const LockStatus& lock, std::chrono::system_clock::time_point now);

}  // namespace holdfast::cli
