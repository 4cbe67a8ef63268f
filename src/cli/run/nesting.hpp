#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "cli/run/job.hpp"
#include "holdfast/client.hpp"
#include "holdfast/status.hpp"

namespace holdfast::cli {

/// Tells a command what its ancestors hold: `HOLDER:TOKEN` words, the outermost first. A command that runs the tool
/// again for the same lock would else wait for itself.
inline constexpr const char* outer_holds_variable = "HOLDFAST_OUTER";

std::string outer_holds();
/// The list with this one behind it, if it is not in it.
std::string with_hold(const std::string& outer, const Grant& grant);

/// The hold on `lock` of a process that runs this one: it is in the list, in the store, and its process is a living
/// ancestor of this one. Each alone proves little: an environment outlives its process, and pids mean nothing on
/// another host.
struct AncestorsHold {
  Grant grant;
  ClaimMode mode = ClaimMode::exclusive;
};
std::optional<AncestorsHold> ancestors_hold(const LockStatus& lock, const std::string& outer);

/// Asks the store whether there is one. Throws holdfast::Error; Errc::cancelled after a stop, which closes `client`:
/// looking at a store cannot be interrupted in another way.
std::optional<AncestorsHold> look_for_ancestors_hold(Client& client, const LockName& name, const std::string& outer,
                                                     const std::stop_token& stop);

}  // namespace holdfast::cli
