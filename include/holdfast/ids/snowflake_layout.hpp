#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/error.hpp"
#include "holdfast/export.hpp"

namespace holdfast::ids {

/// How a snowflake id is divided into a time, a worker number and a sequence number, from the highest bits to the
/// lowest. The sign bit is never used, so ids are positive in every language.
///
///     constexpr holdfast::ids::SnowflakeLayout layout;  // 41 bits of milliseconds since 2025, 10 for workers, 12
///     static_assert(layout.workers() == 1024 && layout.sequences() == 4096);
///     const auto created = layout.decode(id).time;
///
/// The time counts ticks: the unit in which the layout measures. An immutable value; everything here is constexpr, and
/// a layout that makes no sense does not compile, or throws Errc::invalid_argument at run time.
class SnowflakeLayout {
 public:
  enum class Unit : std::uint8_t { milliseconds, seconds };

  /// This is an aggregate: name the members that you change.
  struct Fields {
    int time_bits = 41;
    int worker_bits = 10;
    int sequence_bits = 12;
    Unit unit = Unit::milliseconds;
    /// The time that tick 0 stands for. Never change it while ids of the layout exist.
    std::chrono::sys_seconds epoch = std::chrono::sys_days(std::chrono::January / 1 / 2025);
  };

  /// 41/10/12 in milliseconds: 1,024 workers with 4,096,000 ids per second each, until 2094.
  constexpr SnowflakeLayout() = default;
  /// Throws Errc::invalid_argument unless there are 10 to 44 bits of milliseconds or 10 to 36 bits of seconds, at most
  /// 22 bits for workers, 1 to 22 bits for sequence numbers, and at most 63 in all.
  constexpr explicit SnowflakeLayout(const Fields& fields) : fields_(fields) {
    const int most_time_bits = fields.unit == Unit::milliseconds ? 44 : 36;
    require(fields.time_bits >= 10 && fields.time_bits <= most_time_bits,
            "a snowflake layout needs 10 to 44 bits of milliseconds, or 10 to 36 bits of seconds");
    require(fields.worker_bits >= 0 && fields.worker_bits <= 22, "a snowflake layout has at most 22 bits for workers");
    require(fields.sequence_bits >= 1 && fields.sequence_bits <= 22,
            "a snowflake layout needs 1 to 22 bits for sequence numbers");
    require(bits() <= 63, "a snowflake layout has at most 63 bits");
    // Times are computed in nanoseconds on the way, which reach from 1678 to 2262; the epoch stays well inside.
    constexpr auto earliest = std::chrono::sys_days(std::chrono::January / 1 / 1970);
    constexpr auto latest = std::chrono::sys_days(std::chrono::January / 1 / 2200);
    require(fields.epoch >= earliest && fields.epoch <= latest, "a layout's epoch must be between 1970 and 2200");
  }

  /// 53 bits, which every number of JavaScript can represent: 41/5/7 in milliseconds, 32 workers with 128,000 ids per
  /// second each, until 2094.
  static constexpr SnowflakeLayout javascript() {
    return SnowflakeLayout({.time_bits = 41, .worker_bits = 5, .sequence_bits = 7});
  }
  /// 53 bits in seconds: 31/10/12, 1,024 workers with 4,096 ids per second each, until 2093.
  static constexpr SnowflakeLayout javascript_seconds() {
    return SnowflakeLayout({.time_bits = 31, .worker_bits = 10, .sequence_bits = 12, .unit = Unit::seconds});
  }

  constexpr const Fields& fields() const noexcept { return fields_; }
  constexpr int bits() const noexcept { return fields_.time_bits + fields_.worker_bits + fields_.sequence_bits; }
  /// How many workers there can be, and how many ids each of them has per tick.
  constexpr std::uint32_t workers() const noexcept { return std::uint32_t{1} << fields_.worker_bits; }
  constexpr std::uint32_t sequences() const noexcept { return std::uint32_t{1} << fields_.sequence_bits; }
  constexpr std::chrono::milliseconds tick() const noexcept {
    return std::chrono::milliseconds(fields_.unit == Unit::milliseconds ? 1 : 1000);
  }
  /// The most that one worker can issue for as long as it likes.
  constexpr std::uint64_t ids_per_second() const noexcept {
    return sequences() * static_cast<std::uint64_t>(std::chrono::milliseconds(std::chrono::seconds(1)) / tick());
  }
  /// Whether every id is an exact number of JavaScript, and of everything else that computes with doubles.
  constexpr bool is_exact_in_javascript() const noexcept { return bits() <= 53; }

  /// How many ticks there are. Tick number `ticks()` and all later ones do not exist.
  constexpr std::int64_t ticks() const noexcept { return std::int64_t{1} << fields_.time_bits; }
  /// From when on there are no more ids.
  constexpr std::chrono::sys_time<std::chrono::milliseconds> ends() const noexcept { return time_of(ticks()); }

  /// The number of the tick in which `time` is. It is negative before the epoch, and may be beyond the last tick.
  template <class Duration>
  constexpr std::int64_t tick_of(std::chrono::sys_time<Duration> time) const noexcept {
    using std::chrono::floor;
    using std::chrono::milliseconds;
    const milliseconds since = floor<milliseconds>(time.time_since_epoch()) - fields_.epoch.time_since_epoch();
    return fields_.unit == Unit::milliseconds ? since.count() : floor<std::chrono::seconds>(since).count();
  }
  /// When a tick begins.
  constexpr std::chrono::sys_time<std::chrono::milliseconds> time_of(std::int64_t tick_number) const noexcept {
    return fields_.epoch + tick_number * tick();
  }

  /// What an id consists of.
  struct Parts {
    std::chrono::sys_time<std::chrono::milliseconds> time = {};  ///< when its tick began
    std::uint32_t worker = 0;
    std::uint32_t sequence = 0;
    friend constexpr bool operator==(const Parts&, const Parts&) = default;
  };
  /// REQUIRES: `id` is of this layout. Bits above the layout's are ignored.
  constexpr Parts decode(std::uint64_t id) const noexcept {
    const auto tick_number = static_cast<std::int64_t>(id >> (fields_.worker_bits + fields_.sequence_bits));
    return {.time = time_of(tick_number & (ticks() - 1)),
            .worker = static_cast<std::uint32_t>(id >> fields_.sequence_bits) & (workers() - 1),
            .sequence = static_cast<std::uint32_t>(id) & (sequences() - 1)};
  }
  /// The id with these parts. REQUIRES: each fits into its field.
  constexpr std::uint64_t compose(std::int64_t tick_number, std::uint32_t worker,
                                  std::uint32_t sequence) const noexcept {
    return (static_cast<std::uint64_t>(tick_number) << (fields_.worker_bits + fields_.sequence_bits)) |
           (std::uint64_t{worker} << fields_.sequence_bits) | sequence;
  }

  /// The smallest and the largest id that may carry a time, both included: `WHERE id BETWEEN first AND last`.
  struct Bounds {
    std::uint64_t first = 1;
    std::uint64_t last = 0;  ///< smaller than `first` if there is no such id
    friend constexpr bool operator==(const Bounds&, const Bounds&) = default;
  };
  /// The bounds of all ids created from `from` to `to`, both included.
  template <class From, class To>
  constexpr Bounds bounds(std::chrono::sys_time<From> from, std::chrono::sys_time<To> to) const noexcept {
    const std::int64_t first = std::max<std::int64_t>(tick_of(from), 0);
    const std::int64_t last = std::min<std::int64_t>(tick_of(to), ticks() - 1);
    if (first > last) return {};
    return {compose(first, 0, 0), compose(last, workers() - 1, sequences() - 1)};
  }

  friend constexpr bool operator==(const SnowflakeLayout& left, const SnowflakeLayout& right) noexcept {
    const Fields& a = left.fields_;
    const Fields& b = right.fields_;
    return a.time_bits == b.time_bits && a.worker_bits == b.worker_bits && a.sequence_bits == b.sequence_bits &&
           a.unit == b.unit && a.epoch == b.epoch;
  }

 private:
  static constexpr void require(bool condition, const char* what) {
    if (!condition) throw Error(Errc::invalid_argument, what);
  }

  Fields fields_ = {};
};

/// `41/10/12/ms/1735689600`: the three widths, `ms` or `s`, and the epoch in seconds since 1970.
HOLDFAST_EXPORT std::string to_string(const SnowflakeLayout& layout);
/// The reverse. Throws Errc::invalid_argument; the message says what is wrong with the text.
HOLDFAST_EXPORT SnowflakeLayout parse_snowflake_layout(std::string_view text);

}  // namespace holdfast::ids
