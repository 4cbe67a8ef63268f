#pragma once

#include <chrono>

#include "backends/redis/requests.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// From the server's clock to ours.
constexpr std::chrono::system_clock::time_point time_of_day(std::chrono::microseconds since_1970) {
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
}

/// What the server's clock says.
void ask_time(Requests& requests, spi::Done<std::chrono::system_clock::time_point> done);

}  // namespace holdfast::redis
