#include "cli/look/lock_row.hpp"

#include "cli/look/lock_text.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {

LockRow row_of(const LockStatus& lock, std::chrono::system_clock::time_point now) {
  LockRow row = {.name = printable(lock.name),
                 .mode = std::string(mode_of(lock)),
                 .holder = "-",
                 .age = "-",
                 .ttl = "-",
                 .token = token_text(token_of(lock)),
                 .waiters = std::to_string(lock.waiters.size()),
                 .reason = "-"};
  if (lock.kind == LockKind::semaphore && lock.total > 0) row.mode += " " + permits_of(lock);
  if (lock.holders.empty()) return row;
  const ClaimStatus& first = lock.holders.front();
  row.holder = client_of(first);
  if (lock.holders.size() > 1) row.holder += " and " + std::to_string(lock.holders.size() - 1) + " more";
  if (is_known(first.client)) row.age = age(first.since, now);
  row.ttl = human(first.lease_left);
  if (!first.reason.empty()) row.reason = printable(first.reason);
  return row;
}

}  // namespace holdfast::cli
