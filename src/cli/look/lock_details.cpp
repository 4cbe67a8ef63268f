#include "cli/look/lock_details.hpp"

#include "cli/look/lock_text.hpp"
#include "cli/text/field.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {
namespace {

/// Command, label and reason, as far as they are known.
std::string about(const ClaimStatus& claim) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += field(std::string("  ") + name, printable(value));
  };
  add("command", claim.client.command);
  add("label", claim.client.label);
  add("reason", claim.reason);
  return text;
}

std::string place(const ClientIdentity& client) {
  if (!is_known(client)) return "unknown: not a client of Holdfast, or one that is described nowhere";
  return printable(client.host) + ", pid " + std::to_string(client.pid) + ", client " + printable(client.id);
}

}  // namespace

std::string details_of(const LockStatus& lock, std::chrono::system_clock::time_point now) {
  std::string text = field("mode", std::string(mode_of(lock)));
  if (lock.total > 0) text += field("permits", permits_of(lock) + " taken");
  text += field("token", token_text(token_of(lock)));
  for (const ClaimStatus& holder : lock.holders) {
    text += field("holder", place(holder.client)) + about(holder);
    if (is_known(holder.client)) text += field("  since", rfc3339(holder.since) + ", " + ago(holder.since, now));
    text += field("  lease", human(holder.lease_left) + " left");
  }
  if (lock.holders.empty()) text += field("holder", "-");
  text += field("waiters", std::to_string(lock.waiters.size()));
  std::size_t position = 0;
  for (const ClaimStatus& waiter : lock.waiters) {
    text += "  " + std::to_string(++position) + ". " + client_of(waiter);
    if (is_known(waiter.client)) text += ", since " + ago(waiter.since, now);
    text += (waiter.reason.empty() ? "" : ", " + printable(waiter.reason)) + "\n";
  }
  return text;
}

}  // namespace holdfast::cli
