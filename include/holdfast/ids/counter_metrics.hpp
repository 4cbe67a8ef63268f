#pragma once

#include <cstdint>

namespace holdfast::ids {

/// What a generator has done so far.
struct CounterMetrics {
  std::uint64_t issued = 0;     ///< ids that were returned
  std::uint64_t burnt = 0;      ///< numbers that the store gave, or may have given, and that nobody will ever have
  std::uint64_t refused = 0;    ///< requests to the store that failed
  std::uint64_t went_back = 0;  ///< how many times the store had lost what it had acknowledged
};

}  // namespace holdfast::ids
