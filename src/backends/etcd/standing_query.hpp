#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/etcd/line.hpp"
#include "backends/etcd/wire.hpp"

namespace holdfast::etcd {

/// How a claim stands in its line, as the store had it at one revision.
struct LineStanding {
  Line::Claim claim;
  bool granted = false;
  /// The claim that it waits for. Empty if it waits for all claims that stand before it.
  std::optional<Line::Claim> ahead = {};
  std::uint32_t place = 0;             ///< how many claims stand before it, or more if they are many
  spi::milliseconds check_after = {};  ///< how long the lease of the one ahead is
  std::int64_t revision = 0;
};

/// The read that finds out how a claim stands. It reads less than the line:
///
/// | claim             | what is read besides its own key                                               |
/// |-------------------|--------------------------------------------------------------------------------|
/// | granted           | nothing: nobody ever joins ahead of it, so it stays granted until it goes      |
/// | waiting exclusive | the claim just ahead                                                           |
/// | waiting shared    | the exclusive claim just ahead; if it has become shared, it had been granted,  |
/// |                   | so no other exclusive claim stands before it                                   |
/// | waiting permits   | the whole line                                                                 |
struct StandingQuery {
  std::string line;  ///< what the keys of the line begin with
  std::string key;
  ClaimMode mode = ClaimMode::exclusive;  ///< the mode in which the claim joined
  std::int64_t create_revision = 0;
  bool granted = false;     ///< the claim is known to be granted
  std::uint32_t place = 0;  ///< at most so many claims stand before it

  /// How many operations the read has.
  std::size_t size() const;
  void add_to(std::vector<KeyOperation>& operations) const;
  /// What the outcomes of these operations mean. Empty if the claim does not exist. If its create revision is not the
  /// expected one, nothing else of the answer can be relied on.
  std::optional<LineStanding> standing_in(std::span<const Outcome> outcomes, std::int64_t revision) const;

 private:
  std::optional<LineStanding> standing_in_whole_line(const Outcome& outcome, std::int64_t revision) const;
};

/// Reads the claims that a claim in a lock's line may have to wait for. The nearest one comes first.
Range rivals(const std::string& line, ClaimMode mode, std::int64_t limit);
/// Reads all claims of a line.
Range whole_line(const std::string& line);

/// How a claim stands behind its rivals, of which the oldest comes first.
LineStanding standing_behind(Line rivals, Line::Claim claim);

}  // namespace holdfast::etcd
