#include "cli/ids/far_times.hpp"

#include <array>
#include <cstdio>

#include "cli/text/time_text.hpp"

namespace holdfast::cli {

std::string day_text(std::chrono::sys_seconds time) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time));
  std::array<char, 40> text = {};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

std::string time_text(std::chrono::sys_time<std::chrono::milliseconds> time) {
  constexpr auto latest = std::chrono::sys_days(std::chrono::year(2262) / 1 / 1);
  if (time < latest) return rfc3339(time);
  return day_text(std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace holdfast::cli
