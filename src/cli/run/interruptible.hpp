#pragma once

#include <chrono>

#include "cli/run/holding.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// What became of waiting: what acquiring answered, or the signal that ended it.
struct Waited {
  Acquired acquired = {};
  int signal = 0;
};

/// Acquires within `wait`, or until a signal arrives: then leaves the line, gives back what it may just have got, and
/// answers with the signal. Throws what `acquire` throws.
Waited acquire_interruptibly(const Acquire& acquire, std::chrono::nanoseconds wait, const Signals& signals);

}  // namespace holdfast::cli
