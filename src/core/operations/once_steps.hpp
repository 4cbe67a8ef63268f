#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/engine/caller.hpp"
#include "core/operations/operation.hpp"
#include "holdfast/once.hpp"

/// What a Once does in the store: a run holds the lock of the name, and a register remembers the last successful one.
namespace holdfast::core {

using WallTime = std::chrono::system_clock::time_point;

/// By how much a run may begin before the period is over: the smaller of a tenth of it and one minute.
constexpr std::chrono::milliseconds slack_of(std::chrono::milliseconds period) {
  const std::chrono::milliseconds most = std::chrono::minutes(1);
  return period / 10 < most ? period / 10 : most;
}

struct BegunRun {
  std::shared_ptr<HoldRecord> lock;
  WallTime started;
};

/// Empty if there is nothing to do.
Operation<std::optional<BegunRun>> begin_run(Caller& caller, Cell& cell, std::chrono::milliseconds period,
                                             std::chrono::milliseconds at_least, LockOptions options,
                                             spi::WhenBusy when_busy);
/// Remembers, as long as the lock is held, that the run was successful; Errc::lost if it is not.
Operation<spi::Nothing> remember_success(Caller& caller, LockName name, BegunRun run, std::int32_t result);
/// Whether begin_run() would begin one, if it had the lock.
Operation<bool> is_due(Caller& caller, LockName name, std::chrono::milliseconds period);
Operation<std::optional<LastRun>> last_run(Caller& caller, LockName name);

}  // namespace holdfast::core
