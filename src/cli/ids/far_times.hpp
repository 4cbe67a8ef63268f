#pragma once

#include <chrono>
#include <string>

namespace holdfast::cli {

/// `2094-09-07`. Also for the ends of formats of ids, which the nanoseconds of the system's clock cannot express.
std::string day_text(std::chrono::sys_seconds time);

/// As rfc3339(), if the system's clock can express the time; else the day.
std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> time);

}  // namespace holdfast::cli
