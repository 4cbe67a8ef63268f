#pragma once

#include <chrono>
#include <optional>

#include "cli/signals.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::cli {

/// What became of waiting for a lock: a hold, or the signal that ended it, or neither when it could not be had in time.
struct Waited {
  std::optional<Hold> hold = {};
  int signal = 0;
};

/// Waits for the lock for at most `wait`, or until a signal arrives: then leaves the line, gives back what it may just
/// have got, and answers with the signal. Throws what Mutex::try_acquire_for() throws.
Waited acquire_interruptibly(Mutex& mutex, std::chrono::nanoseconds wait, const Signals& signals);

}  // namespace holdfast::cli
