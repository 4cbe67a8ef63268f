#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/etcd/line.hpp"
#include "backends/etcd/wire.hpp"

namespace holdfast::etcd {

/// How a claim stands, as the store had it at a revision.
struct Standing {
  Line::Claim claim;
  bool granted = false;
  std::optional<Line::Claim> ahead = {};  ///< the one that it waits for; none: it waits for all that stand before it
  std::uint32_t place = 0;                ///< how many these are; at most, if they are many
  spi::milliseconds check_after = {};     ///< how long the lease of the one ahead is
  std::int64_t revision = 0;
};

/// What must be read to know how a claim stands, which is less than the line:
///
/// | claim             | besides its own key                                                            |
/// |-------------------|--------------------------------------------------------------------------------|
/// | granted           | nothing: nobody ever joins ahead of it, so it stays granted until it goes      |
/// | waiting exclusive | the claim just ahead                                                           |
/// | waiting shared    | the exclusive claim just ahead; if that is shared by now, it had been granted, |
/// |                   | so no other stands before it                                                   |
/// | waiting permits   | the whole line                                                                 |
struct Sight {
  std::string line;  ///< what its keys begin with
  std::string key;
  ClaimMode mode = ClaimMode::exclusive;  ///< as it joined
  std::int64_t create_revision = 0;
  bool granted = false;     ///< which is known
  std::uint32_t place = 0;  ///< at most so many stand before it

  /// How many operations it takes.
  std::size_t size() const;
  void add_to(std::vector<KeyOperation>& operations) const;
  /// Nothing if the claim is not there. If it has another create revision, only that is to be believed.
  std::optional<Standing> in(std::span<const Outcome> outcomes, std::int64_t revision) const;

 private:
  std::optional<Standing> in_whole_line(const Outcome& outcome, std::int64_t revision) const;
};

/// The claims that a claim in a lock's line may have to wait for, the nearest first.
Range rivals(const std::string& line, ClaimMode mode, std::int64_t limit);
/// All claims of a line.
Range whole(const std::string& line);

/// How a claim stands behind its rivals, the oldest first.
Standing behind(Line rivals, Line::Claim claim);

}  // namespace holdfast::etcd
