#pragma once

#include <chrono>
#include <optional>

#include "cli/run/guardian.hpp"
#include "cli/run/job.hpp"
#include "cli/signals.hpp"
#include "holdfast/hold.hpp"

namespace holdfast::cli {

struct Supervised {
  std::optional<Ended> ended = {};  ///< empty if somebody killed the guardian; then what it guarded was killed, too
  bool told_to_end = false;         ///< a signal came that asks programs to end
};

/// Runs the job once under `hold`: tells the guardian how long the lease lasts and when it is
/// lost, and passes signals on. Returns when the command has ended, and all of its descendants if it was made to.
Supervised supervise(const Job& job, const HoldTerms& terms, const Hold& hold, Guardian& guardian,
                     const Signals& signals);

}  // namespace holdfast::cli
