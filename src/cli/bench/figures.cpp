#include "cli/bench/figures.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "cli/text/table.hpp"

namespace holdfast::cli {

std::string table_of(const std::vector<BenchFigure>& figures) {
  Table table({"WHAT", "PER SECOND", "HALF TAKE UP TO", "99% TAKE UP TO"});
  for (const BenchFigure& figure : figures) {
    const auto rate = static_cast<std::uint64_t>(std::llround(figure.per_second));
    const bool any = figure.count > 0;
    table.add({figure.title, grouped(rate), any ? short_time(figure.p50) : "-", any ? short_time(figure.p99) : "-"});
  }
  return table.text();
}

std::string short_time(std::chrono::nanoseconds time) {
  constexpr std::array units{"ns", "us", "ms", "s"};
  auto value = static_cast<double>(time.count());
  std::size_t unit = 0;
  // What would be rounded to 1000 is 1 of the next unit.
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f%s", decimals, value, units.at(unit));
  return text.data();
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  constexpr std::size_t group = 3;
  for (std::size_t at = text.size(); at > group; at -= group) text.insert(at - group, 1, ',');
  return text;
}

}  // namespace holdfast::cli
