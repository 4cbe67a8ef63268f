#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spi/claims.hpp"

/// The rule of the line, for stores that keep the claims of a name in order but grant nothing themselves: each client
/// looks at the line and finds out by this rule whether its claim is granted. All clients must use the same one.
namespace holdfast::kit {

/// A claim in a line, as far as the rule goes.
struct LineEntry {
  spi::Mode mode = {};
  /// permits: it was granted before the total was lowered, which takes nothing away.
  bool keeps = false;
};

/// What the line means for one of its claims.
struct LinePosition {
  enum class Kind : std::uint8_t {
    granted,
    behind_one,  ///< nothing changes for it before the claim at `ahead` goes or becomes shared
    behind_all,  ///< look again when any claim before it goes, or the total changes
  };
  Kind kind = Kind::granted;
  std::size_t ahead = 0;
  friend bool operator==(const LinePosition&, const LinePosition&) = default;
};

/// Whether the claim at `place` is granted, and otherwise what it waits for. `line` begins with the oldest claim; all of
/// its claims are alive, and all are of the lock, or all of the semaphore. `total` is how many permits the semaphore has
/// now; locks ignore it.
LinePosition position_of(std::span<const LineEntry> line, std::size_t place, std::uint32_t total);

}  // namespace holdfast::kit
