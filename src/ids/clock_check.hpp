#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/instant.hpp"
#include "holdfast/store_clock.hpp"

namespace holdfast::ids {

/// A time of day on this host.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

/// Notices that the time of day was set, by comparing it with the clock that counts from the boot.
class ClockWatch {
 public:
  /// Call this often. Returns by how much the time of day was set forward (or back, if negative) since the last call;
  /// zero if it just went on.
  base::Duration observe(WallTime wall, base::Instant boot);

 private:
  std::optional<base::Duration> offset_;  ///< of the time of day from the boot clock
};

/// Whether this host's time of day may be believed. A clock that is far ahead would reserve windows in the future,
/// which nobody else could use for as long, so it is compared with the store's clock before a worker number is taken,
/// and again whenever it was set forward while the clock that counts from the boot was not.
///
/// A store without a clock cannot be asked. There the newest window of the others is the witness: if it is more than
/// an hour old, either nobody has been here for an hour, or this clock is wrong. The first case is the usual one, so the
/// witness is looked at once more: one that was extended meanwhile belongs to a process that is alive, and whose clock
/// says otherwise.
class ClockCheck {
 public:
  struct Rules {
    base::Duration max_ahead;      ///< of the store's clock
    base::Duration witness_rests;  ///< how long a living process may leave its window alone
  };
  enum class Verdict : std::uint8_t { believed, refused, look_again };

  explicit ClockCheck(const Rules& rules) : rules_(rules) {}

  /// Call this often: if the time of day was set forward, the clock has to be compared.
  void observe(WallTime wall, base::Instant boot) {
    if (watch_.observe(wall, boot) > base::Duration::zero()) require();
  }

  /// Whether nothing may be reserved before the clock was compared.
  bool is_due() const { return !believed_; }
  void require() { believed_ = false; }

  Verdict compare(WallTime wall, const StoreTime& store);

  /// Somebody's window, and the version of the record that says so.
  struct Witness {
    std::uint32_t number = 0;
    std::uint64_t version = 0;
    WallTime window_ends = {};
  };
  /// Compares with the newest window of the others. After `look_again`, witness() is to be looked at once more, not
  /// before look_again_at(), and given to compare_again().
  Verdict compare(WallTime wall, base::Instant boot, const std::optional<Witness>& newest);
  Verdict compare_again(WallTime wall, const Witness& now);
  const std::optional<Witness>& witness() const { return witness_; }
  base::Instant look_again_at() const { return look_again_at_; }

 private:
  static constexpr base::Duration witness_slack = std::chrono::hours(1);

  Verdict decided(bool believed);

  const Rules rules_;
  bool believed_ = false;
  ClockWatch watch_;
  std::optional<Witness> witness_;
  base::Instant look_again_at_ = {};
};

}  // namespace holdfast::ids
