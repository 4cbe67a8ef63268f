#include "cli/run/nesting.hpp"

#include <cstdlib>
#include <sstream>
#include <vector>

#include "cli/run/process_table.hpp"
#include "holdfast/error.hpp"

namespace holdfast::cli {
namespace {

std::string word_of(const Grant& grant) { return grant.holder + ":" + std::to_string(grant.token); }

/// Words that are none are left out: anybody may set a variable.
std::vector<Grant> grants_in(const std::string& outer) {
  std::vector<Grant> grants;
  std::istringstream words(outer);
  for (std::string word; words >> word;) {
    std::istringstream fields(word);
    Grant grant;
    if (std::getline(fields, grant.holder, ':') && fields >> grant.token) grants.push_back(grant);
  }
  return grants;
}

}  // namespace

std::string outer_holds() {
  const char* const value = std::getenv(outer_holds_variable);
  return value != nullptr ? value : "";
}

std::string with_hold(const std::string& outer, const Grant& grant) {
  for (const Grant& known : grants_in(outer)) {
    if (known.holder == grant.holder) return outer;
  }
  return outer + (outer.empty() ? "" : " ") + word_of(grant);
}

std::optional<AncestorsHold> ancestors_hold(const LockStatus& lock, const std::string& outer) {
  for (const Grant& grant : grants_in(outer)) {
    for (const ClaimStatus& holder : lock.holders) {
      if (holder.client.id != grant.holder || !is_ancestor(static_cast<pid_t>(holder.client.pid))) continue;
      return AncestorsHold{.grant = grant, .mode = holder.mode};
    }
  }
  return std::nullopt;
}

std::optional<AncestorsHold> look_for_ancestors_hold(Client& client, const LockName& name, const std::string& outer,
                                                     const std::stop_token& stop) {
  std::optional<LockStatus> lock;
  try {
    const std::stop_callback close_at_once(stop, [&] { client.close(); });
    lock = client.show(name);
  } catch (const Error&) {
    if (!stop.stop_requested()) throw;
  }
  if (stop.stop_requested()) throw Error(Errc::cancelled, "looking at lock '" + name.text() + "'");
  return lock ? ancestors_hold(*lock, outer) : std::nullopt;
}

}  // namespace holdfast::cli
