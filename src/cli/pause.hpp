#pragma once

#include <chrono>
#include <stop_token>

namespace holdfast::cli {

/// Sleeps for `length`, or until a stop is requested. Returns whether the whole length has passed.
///
/// Timed waits of the standard library tell the kernel until when, by the steady clock. Under libfaketime and its like
/// (docs/guarantees.md) that is another moment for the kernel: such a wait may last for days, or not at all. This one
/// says for how long.
bool pause_for(std::chrono::milliseconds length, const std::stop_token& stop);

}  // namespace holdfast::cli
