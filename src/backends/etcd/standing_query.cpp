#include "backends/etcd/standing_query.hpp"

#include <algorithm>
#include <utility>

#include "backends/etcd/keys.hpp"

namespace holdfast::etcd {
namespace {

/// How many of the claims ahead are counted. (The server could count without sending them, but only the whole line.)
constexpr std::int64_t most_counted = 16;

constexpr std::size_t operations_of_waiting = 3;

}  // namespace

Range whole_line(const std::string& line) { return {.key = line, .range_end = Keys::end_of(line)}; }

Range rivals(const std::string& line, ClaimMode mode, std::int64_t limit) {
  Range range = whole_line(line);
  if (mode == ClaimMode::shared) range.range_end = Keys::end_of_exclusive(line);
  range.limit = limit;
  range.newest_first = true;
  return range;
}

LineStanding standing_behind(Line rivals, Line::Claim claim) {
  LineStanding standing;
  standing.claim = claim;
  rivals.append(std::move(claim));
  const kit::LinePosition position = rivals.position_of(rivals.size() - 1);
  standing.granted = position.kind == kit::LinePosition::Kind::granted;
  if (standing.granted) return standing;
  standing.place = static_cast<std::uint32_t>(rivals.size() - 1);
  const bool one = position.kind == kit::LinePosition::Kind::behind_one;
  if (one) standing.ahead = rivals[position.ahead];
  standing.check_after = rivals[one ? position.ahead : 0].record.lease;
  return standing;
}

std::size_t StandingQuery::size() const { return granted || mode == ClaimMode::permits ? 1 : operations_of_waiting; }

void StandingQuery::add_to(std::vector<KeyOperation>& operations) const {
  if (granted) {
    operations.emplace_back(Range{.key = key});
    return;
  }
  if (mode == ClaimMode::permits) {
    operations.emplace_back(whole_line(line));
    return;
  }
  operations.emplace_back(Range{.key = key});
  Range nearest = rivals(line, mode, 1);
  Range ahead = rivals(line, ClaimMode::exclusive, most_counted);
  nearest.not_created_after = ahead.not_created_after = create_revision - 1;
  ahead.keys_only = true;
  operations.emplace_back(std::move(nearest));
  operations.emplace_back(std::move(ahead));
}

std::optional<LineStanding> StandingQuery::standing_in(std::span<const Outcome> outcomes, std::int64_t revision) const {
  if (mode == ClaimMode::permits && !granted) return standing_in_whole_line(outcomes[0], revision);
  if (outcomes[0].found.empty()) return std::nullopt;
  LineStanding standing;
  standing.claim = Line::Claim::of(outcomes[0].found.front());
  if (granted) {
    standing.granted = true;
  } else {
    standing = standing_behind(Line(outcomes[1].found), std::move(standing.claim));
    const auto counted = static_cast<std::uint32_t>(outcomes[2].found.size());
    const bool all = counted < most_counted;
    if (!standing.granted) standing.place = all ? counted : std::max(counted, place);
  }
  standing.revision = revision;
  return standing;
}

std::optional<LineStanding> StandingQuery::standing_in_whole_line(const Outcome& outcome, std::int64_t revision) const {
  const Line claims(outcome.found);
  const auto at = claims.find(key);
  if (!at) return std::nullopt;
  LineStanding standing;
  standing.claim = claims[*at];
  standing.granted = claims.is_granted(*at);
  standing.place = static_cast<std::uint32_t>(*at);
  standing.check_after = claims[0].record.lease;
  standing.revision = revision;
  return standing;
}

}  // namespace holdfast::etcd
