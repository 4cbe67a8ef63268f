#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/look/changes.hpp"
#include "holdfast/status.hpp"

namespace holdfast::cli {

/// One lock as a JSON object, with a newline at its end:
///
/// | member               | is                                                                                      |
/// |----------------------|-----------------------------------------------------------------------------------------|
/// | `name`               | string                                                                                  |
/// | `mode`               | `exclusive`, `shared`, `permits`, `election` or `free`                                  |
/// | `token`              | a string: 64 bits do not fit into every reader's numbers; `"0"` if nobody holds         |
/// | `holders`, `waiters` | `client, host, pid, command, label, reason, since (RFC 3339), ttl_ms`; in order         |
///
/// A semaphore also has `total` and `taken`, and a claim on it `permits`. Bytes that are not UTF-8 are replaced.
std::string to_json(const LockStatus& lock);
/// All that have one name, as one object: that of the first, with the others in its member `also`, which is missing if
/// there are none. REQUIRES: there is one.
std::string to_json_with_namesakes(const std::vector<LockStatus>& locks);
/// Several as one JSON array.
std::string to_json(const std::vector<LockStatus>& locks);
/// One change in one line: `event`, `time` (RFC 3339, when it was seen), `name`, `mode` and `token`, then the members
/// of a holder or waiter.
std::string to_json(const Change& change, std::chrono::system_clock::time_point time);

}  // namespace holdfast::cli
