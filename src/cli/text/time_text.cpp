#include "cli/text/time_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// `2m 10s`, or `2m` when there is nothing below it.
std::string two_units(long large, const char* large_name, long small, const char* small_name) {
  std::string text = std::to_string(large) + large_name;
  if (small != 0) text += " " + std::to_string(small) + small_name;
  return text;
}

}  // namespace

std::string human(milliseconds duration) {
  const long ms = std::max<long>(0, duration.count());
  const long seconds = ms / 1000;
  if (ms == 0) return "0s";
  if (ms < 1000) return std::to_string(ms) + "ms";
  if (seconds < 10 && ms % 1000 >= 100) return std::to_string(seconds) + "." + std::to_string(ms % 1000 / 100) + "s";
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return two_units(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86'400) return two_units(seconds / 3600, "h", seconds % 3600 / 60, "m");
  return two_units(seconds / 86'400, "d", seconds % 86'400 / 3600, "h");
}

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const auto since_epoch = std::chrono::floor<milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t when = seconds.count();
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ",
                static_cast<int>((since_epoch - seconds).count()));
  return text.data();
}

std::string time_of_day(std::chrono::system_clock::time_point time) {
  const std::time_t when = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&when, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
  return text.data();
}

}  // namespace holdfast::cli
