#include "cli/look/lock_text.hpp"

#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {

using std::chrono::system_clock;

std::string_view mode_of(const LockStatus& lock) {
  if (lock.holders.empty() && lock.waiters.empty()) return "free";
  return mode_of(lock.kind, lock.holders.empty() ? lock.waiters.front() : lock.holders.front());
}

std::string_view mode_of(LockKind kind, const ClaimStatus& claim) {
  if (kind == LockKind::election) return "election";
  switch (claim.mode) {
    case ClaimMode::exclusive: return "exclusive";
    case ClaimMode::shared: return "shared";
    case ClaimMode::permits: return "permits";
  }
  return "unknown";
}

std::uint64_t permits_taken(const LockStatus& lock) {
  std::uint64_t taken = 0;
  for (const ClaimStatus& holder : lock.holders) taken += holder.permits;
  return taken;
}

std::string permits_of(const LockStatus& lock) {
  return std::to_string(permits_taken(lock)) + "/" + std::to_string(lock.total);
}

Token token_of(const LockStatus& lock) { return Token(lock.number << 8U); }

Token token_of(const ClaimStatus& claim) { return Token(claim.number << 8U); }

std::string token_text(Token token) { return token == Token(0) ? "-" : to_string(token); }

bool is_known(const ClientIdentity& client) { return !client.id.empty(); }

std::string client_of(const ClaimStatus& claim) {
  const ClientIdentity& client = claim.client;
  if (!is_known(client)) return "(unknown)";
  const std::string& called = client.label.empty() ? client.command : client.label;
  return printable(client.host + ":" + std::to_string(client.pid) + (called.empty() ? "" : " (" + called + ")"));
}

std::string age(system_clock::time_point time, system_clock::time_point now) {
  return human(std::chrono::duration_cast<std::chrono::milliseconds>(now - time));
}

std::string ago(system_clock::time_point time, system_clock::time_point now) { return age(time, now) + " ago"; }

}  // namespace holdfast::cli
