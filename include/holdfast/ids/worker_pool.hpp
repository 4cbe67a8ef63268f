#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/client.hpp"
#include "holdfast/export.hpp"
#include "holdfast/ids/snowflake_layout.hpp"
#include "holdfast/name.hpp"

namespace holdfast::ids {

/// A worker number that was used at least once.
struct WorkerStatus {
  enum class State : std::uint8_t {
    held,        ///< a process has it
    given_back,  ///< nobody has it, and it is free
    lapsed,      ///< whoever had it has not extended its window, and it is free
    /// Its window ends further in the future than a clock that is right would have reserved it, or its register contains
    /// something else. Nobody takes it until then.
    poisoned,
  };

  std::uint32_t number = 0;
  State state = State::held;
  std::string holder = {};                                      ///< host, process id and label of its last holder
  std::chrono::sys_time<std::chrono::milliseconds> since = {};  ///< when that one took it
  std::chrono::sys_time<std::chrono::milliseconds> reserved_until = {};  ///< the end of its window
};

/// A pool of worker numbers, as the store sees it.
struct WorkerPoolStatus {
  SnowflakeLayout layout = {};
  std::uint32_t workers = 0;
  std::chrono::milliseconds window = {};
  std::optional<std::chrono::milliseconds> guard = {};  ///< if the pool survives losses
  std::vector<WorkerStatus> used = {};                  ///< by number; all others are free
};

/// Looks at a pool of worker numbers: who has which number, since when. Empty if no Snowflake has ever used the pool.
/// Reads as many registers as the pool has numbers, many at a time. Compares windows with the store's clock, or with
/// this host's if the store has none. Throws Error; Errc::store_failed if the pool's register contains something else.
HOLDFAST_EXPORT std::optional<WorkerPoolStatus> look_at_workers(Client& client, const LockName& pool);

}  // namespace holdfast::ids
