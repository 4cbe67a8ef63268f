#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

#include "holdfast/ids/snowflake_layout.hpp"

namespace holdfast::ids {

/// This host's time of day, in ticks of a layout; see issue().
class TickClock {
 public:
  explicit TickClock(const SnowflakeLayout& layout) noexcept
      : epoch_(layout.fields().epoch.time_since_epoch().count()),
        in_seconds_(layout.fields().unit == SnowflakeLayout::Unit::seconds) {}

  /// As of the kernel's last timer interrupt: up to some milliseconds late, and four times as cheap.
  std::int64_t coarse() const noexcept { return read(CLOCK_REALTIME_COARSE); }
  std::int64_t exact() const noexcept { return read(CLOCK_REALTIME); }

 private:
  std::int64_t read(clockid_t clock) const noexcept {
    timespec time{};
    clock_gettime(clock, &time);
    const std::int64_t seconds = time.tv_sec - epoch_;
    // The remainder of a second is not negative, and fits 32 bits, which are divided faster.
    return in_seconds_ ? seconds : seconds * 1000 + static_cast<std::uint32_t>(time.tv_nsec) / 1'000'000U;
  }

  std::int64_t epoch_;
  bool in_seconds_;
};

}  // namespace holdfast::ids
