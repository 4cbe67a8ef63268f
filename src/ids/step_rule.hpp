#pragma once

#include <cstdint>
#include <optional>

#include "base/instant.hpp"

namespace holdfast::ids {

/// How many numbers to ask for at a time, so that a segment lasts for as long as the store may be away. It follows the
/// rate at which numbers are used: at most doubled from one request to the next (four times, if somebody had to wait),
/// and halved only when less than half would do. So a burst wastes little, and a generator that becomes quiet soon asks
/// for little again.
class StepRule {
 public:
  struct Bounds {
    std::int64_t smallest = 1;
    std::int64_t largest = 1;
    base::Duration lasts = {};  ///< for which a segment is to last
  };

  explicit StepRule(const Bounds& bounds) : bounds_(bounds), step_(bounds.smallest) {}

  /// The size of the next request. `used`: how many numbers were used so far. `somebody_waits`: the last request was too
  /// late or too small.
  std::int64_t next(base::Instant now, std::int64_t used, bool somebody_waits);
  /// How long the store took to answer. A segment lasts at least four times as long.
  void answered_after(base::Duration latency) { latency_ = latency; }

  std::int64_t step() const noexcept { return step_; }
  /// Numbers per second. Zero if it is not known yet.
  double rate() const noexcept { return rate_; }

 private:
  void measure(base::Instant now, std::int64_t used);

  struct Measured {
    base::Instant at;
    std::int64_t used;
  };

  const Bounds bounds_;
  std::int64_t step_;
  double rate_ = 0;
  base::Duration latency_ = {};
  std::optional<Measured> measured_;
};

}  // namespace holdfast::ids
