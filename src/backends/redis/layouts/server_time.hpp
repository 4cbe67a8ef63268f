#pragma once

#include <algorithm>
#include <chrono>

#include "backends/redis/topology/topology.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// A time on the server's clock as a time of day.
constexpr std::chrono::system_clock::time_point time_of_day(std::chrono::microseconds since_1970) {
  // Cut off where a server would make the time overflow.
  using Duration = std::chrono::system_clock::duration;
  constexpr auto most = std::chrono::duration_cast<std::chrono::microseconds>(Duration::max());
  return std::chrono::system_clock::time_point(std::clamp(since_1970, -most, most));
}

/// Asks a server for its time of day.
void ask_time(Topology& topology, spi::Done<std::chrono::system_clock::time_point> done);

}  // namespace holdfast::redis
