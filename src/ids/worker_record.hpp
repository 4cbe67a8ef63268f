#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/ids/snowflake_layout.hpp"

namespace holdfast::ids {

/// What the register of a worker number says. Lines of text, so that people can read it, too:
///
///     snowflake 41/10/12/ms/1735689600
///     hwm 59184000000
///     since 59183990000
///     nonce 9f86d081884c7d65
///     holder web1:4711
struct WorkerRecord {
  SnowflakeLayout layout = {};
  /// The high-water mark: no id of this number carries this tick or a later one, so a successor may start here.
  std::int64_t hwm = 0;
  std::int64_t since = 0;   ///< the tick in which the tenure began
  std::uint64_t nonce = 0;  ///< of this very write; no other write has it
  std::string holder = {};  ///< for people; empty if the number was given back
};

/// What the register of a pool says: `snowflake LAYOUT`, `workers N`, `window MS` and `guard MS`, or `guard none` if the
/// pool does not survive losses. Whoever has another idea of it does not join.
struct PoolRecord {
  SnowflakeLayout layout = {};
  std::uint32_t workers = 0;
  std::chrono::milliseconds window = {};
  std::optional<std::chrono::milliseconds> guard = {};
  friend bool operator==(const PoolRecord&, const PoolRecord&) = default;
};

std::string to_text(const WorkerRecord& record);
std::string to_text(const PoolRecord& record);
/// Empty if the text is something else.
std::optional<WorkerRecord> parse_worker_record(std::string_view text);
std::optional<PoolRecord> parse_pool_record(std::string_view text);
/// For people.
std::string described(const PoolRecord& record);

}  // namespace holdfast::ids
