#pragma once

#include <chrono>
#include <string>

namespace holdfast::cli {

/// As people say it, in at most two units: `350ms`, `8.2s`, `2m 10s`, `3h 5m`, `4d 2h`. Less than nothing is `0s`.
std::string human(std::chrono::milliseconds duration);

/// RFC 3339 in UTC with milliseconds: `2024-02-29T12:00:00.000Z`.
std::string rfc3339(std::chrono::system_clock::time_point time);

/// As a clock on the wall shows it, where this process runs: `17:04:59`.
std::string time_of_day(std::chrono::system_clock::time_point time);

}  // namespace holdfast::cli
