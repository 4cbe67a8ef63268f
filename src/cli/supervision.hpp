#pragma once

#include <chrono>
#include <optional>

#include "cli/guardian.hpp"
#include "cli/job.hpp"
#include "cli/signals.hpp"
#include "holdfast/hold.hpp"

namespace holdfast::cli {

/// Runs the job under `hold`: tells the guardian how long the lease lasts and when it is lost, and passes signals on.
/// Returns when the command has ended, and all of its descendants if it was made to. Empty if somebody killed the
/// guardian; then everything that it guarded was killed, too.
std::optional<Ended> supervise(const Job& job, const Grant& grant, const Hold& hold, Guardian& guardian,
                               const Signals& signals);

}  // namespace holdfast::cli
