#pragma once

#include <cstdint>

namespace holdfast::ids_sim {

/// How other generators keep their worker numbers, as far as uniqueness goes.
enum class Custom : std::uint8_t {
  /// The time of the last id is reported every 3 s, and a restart begins there or at the clock, whichever is later.
  reports_every_3_s,
  /// A worker number has a lease; that it was lost is noticed, and nothing comes of it.
  does_not_fence,
};

/// How many ids are issued twice in a minute of crashes, pauses, outages and clocks that are set.
std::uint64_t duplicates_of(Custom custom, std::uint64_t seed);

}  // namespace holdfast::ids_sim
