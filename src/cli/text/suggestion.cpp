#include "cli/text/suggestion.hpp"

#include <algorithm>
#include <cstddef>

#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

/// How many letters must be inserted, removed, replaced, or exchanged with their neighbours, to make one word of the
/// other.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::vector<std::size_t>> cost(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = one[i - 1] == other[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (exchanged) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[one.size()][other.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;  // nobody mistypes a word of that length, and long ones take long
  if (word.size() > longest) return {};
  std::string best;
  std::size_t least = 3;
  for (const std::string& candidate : known) {
    const std::size_t letters = candidate.size() - std::min(candidate.find_first_not_of('-'), candidate.size());
    const std::size_t needed = distance(word, candidate);
    // Of a short word, half of the letters must be right.
    if (needed >= least || needed * 2 > letters) continue;
    best = candidate;
    least = needed;
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : " (did you mean " + in_quotes(meant) + "?)";
}

}  // namespace holdfast::cli
