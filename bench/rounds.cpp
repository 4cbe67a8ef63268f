#include "rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace holdfast::bench {

double percentile(std::vector<double> values, double percent) {
  const auto rank = std::ceil(static_cast<double>(values.size()) * percent / 100);
  const auto at = values.begin() + std::max(static_cast<std::ptrdiff_t>(rank) - 1, std::ptrdiff_t{0});
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median(std::vector<double> values) { return percentile(std::move(values), 50); }

double evenness(const std::vector<std::uint64_t>& turns) {
  const double sum = std::accumulate(turns.begin(), turns.end(), 0.0);
  if (sum == 0) return 0;
  const std::uint64_t fewest = *std::min_element(turns.begin(), turns.end());
  return static_cast<double>(fewest) * static_cast<double>(turns.size()) / sum;
}

Figure compare(std::string what, std::string unit, int rounds, const std::vector<Contender>& contenders) {
  const std::size_t count = contenders.size();
  std::vector<std::vector<double>> values(count);
  for (int round = 0; round < rounds; ++round) {
    // Another one begins each round: whoever comes after another finds the caches, and the machine, as that left them.
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t contender = (i + static_cast<std::size_t>(round)) % count;
      values[contender].push_back(contenders[contender].round());
    }
  }
  Figure figure{.what = std::move(what), .value = median(values[0]), .unit = std::move(unit)};
  for (std::size_t contender = 1; contender < count; ++contender) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < values[0].size(); ++round) {
      ratios.push_back(values[0][round] / values[contender][round]);
    }
    figure.peers.push_back({contenders[contender].name, median(values[contender]), median(ratios)});
  }
  return figure;
}

}  // namespace holdfast::bench
