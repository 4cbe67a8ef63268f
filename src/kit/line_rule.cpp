#include "kit/line_rule.hpp"

namespace holdfast::kit {
namespace {

constexpr LinePosition granted = {LinePosition::Kind::granted, 0};

LinePosition behind(std::size_t ahead) { return {LinePosition::Kind::behind_one, ahead}; }

/// The claim just ahead is enough to wait for: it cannot be granted, and be released, before those ahead of it.
LinePosition position_of_exclusive(std::size_t place) { return place == 0 ? granted : behind(place - 1); }

/// Readers next to each other enter together, so only the nearest writer ahead counts.
LinePosition position_of_shared(std::span<const LineEntry> line, std::size_t place) {
  for (std::size_t ahead = place; ahead > 0; --ahead) {
    if (line[ahead - 1].mode.kind != ClaimMode::shared) return behind(ahead - 1);
  }
  return granted;
}

/// First come, first served: a small claim does not pass a large one that waits. Whoever keeps its permits although the
/// total was lowered still has them, so they count.
LinePosition position_of_permits(std::span<const LineEntry> line, std::size_t place, std::uint32_t total) {
  if (line[place].keeps) return granted;
  std::uint64_t taken = 0;
  for (const LineEntry& entry : line.first(place + 1)) taken += entry.mode.permits;
  return taken <= total ? granted : LinePosition{LinePosition::Kind::behind_all, 0};
}

}  // namespace

LinePosition position_of(std::span<const LineEntry> line, std::size_t place, std::uint32_t total) {
  switch (line[place].mode.kind) {
    case ClaimMode::exclusive: return position_of_exclusive(place);
    case ClaimMode::shared: return position_of_shared(line, place);
    case ClaimMode::permits: return position_of_permits(line, place, total);
  }
  return behind(0);
}

}  // namespace holdfast::kit
