#include "cli/lock_text.hpp"

#include "cli/output.hpp"
#include "cli/time_text.hpp"

namespace holdfast::cli {

std::string_view mode_of(const LockStatus& lock) {
  if (lock.holders.empty() && lock.waiters.empty()) return "free";
  if (lock.kind == LockKind::election) return "election";
  switch (lock.holders.empty() ? lock.waiters.front().mode : lock.holders.front().mode) {
    case ClaimMode::exclusive: return "exclusive";
    case ClaimMode::shared: return "shared";
    case ClaimMode::permits: return "permits";
  }
  return "unknown";
}

std::string permits_of(const LockStatus& lock) {
  std::uint64_t taken = 0;
  for (const ClaimStatus& holder : lock.holders) taken += holder.permits;
  return std::to_string(taken) + "/" + std::to_string(lock.total);
}

Token token_of(const LockStatus& lock) { return Token(lock.number << 8U); }

std::string client_of(const ClaimStatus& claim) {
  const ClientIdentity& client = claim.client;
  const std::string& called = client.label.empty() ? client.command : client.label;
  return printable(client.host + ":" + std::to_string(client.pid) + (called.empty() ? "" : " (" + called + ")"));
}

std::string ago(std::chrono::system_clock::time_point time) {
  const auto age = std::chrono::system_clock::now() - time;
  return human(std::chrono::duration_cast<std::chrono::milliseconds>(age)) + " ago";
}

}  // namespace holdfast::cli
