#pragma once

#include <chrono>
#include <functional>

#include "cli/exit_code.hpp"
#include "cli/run/holding.hpp"
#include "cli/run/job.hpp"
#include "cli/store.hpp"
#include "holdfast/status.hpp"

namespace holdfast::cli {

/// How long to wait for what a job needs, how long to keep it, and what to answer if it cannot be acquired.
struct RunTerms {
  std::chrono::nanoseconds patience = std::chrono::nanoseconds::max();
  std::chrono::milliseconds min_hold = {};
  int busy_exit = exit_code::busy;
  LockKind kind = LockKind::lock;  ///< of what is waited for
};

/// Acquires what `acquire_through` wants, runs the job under it and gives it back. Returns the tool's exit code; has
/// told the user why, unless it is the command's own. Throws holdfast::Error.
///
/// Three processes: the tool takes the lock, keeps its lease and gives it back. Its child, the guardian, is forked
/// before the tool has threads; it starts the command and ends it when the lock is lost, whatever state the tool is in.
/// Where an ancestor holds the lock already, the guardian is not needed, and the tool itself becomes the command.
///
/// REQUIRES: no other thread exists.
int run_guarded(const Store& store, const Job& job, const RunTerms& terms,
                const std::function<Acquire(Client&)>& acquire_through);

/// That the command could not be run, and the exit code for it.
int not_executed(const Job& job, int error);

}  // namespace holdfast::cli
