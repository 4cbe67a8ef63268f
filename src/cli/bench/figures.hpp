#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::cli {

/// One thing that was measured.
struct BenchFigure {
  std::string id = {};     ///< for scripts: `pair`
  std::string title = {};  ///< for people
  std::uint64_t count = 0;
  double per_second = 0;
  std::chrono::nanoseconds p50 = {};
  std::chrono::nanoseconds p99 = {};
};

/// The figures as an aligned table.
std::string table_of(const std::vector<BenchFigure>& figures);

/// `850ns`, `7.85us`, `12.3ms`, `1.2s`: three digits at most.
std::string short_time(std::chrono::nanoseconds time);
/// `1,234,567`.
std::string grouped(std::uint64_t number);

}  // namespace holdfast::cli
