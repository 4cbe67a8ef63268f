#include "core/engine/lease.hpp"

#include <algorithm>

namespace holdfast::core {

using base::Duration;
using base::Instant;

void Lease::armed(Instant armed_at, spi::milliseconds length) {
  if (armed_at == Instant::min()) return;
  length_ = length;
  valid_until_ = std::max(valid_until_, base::saturating_add(armed_at, Duration(length) - drift_allowance(length)));
}

Instant Lease::renewal_due(Instant sent_at) const {
  const Duration interval = Duration(ttl_) / 3;
  const Duration grid = std::max(interval / 8, Duration(1));
  const Instant due = base::saturating_add(sent_at, interval);
  return Instant(due.time_since_epoch() - due.time_since_epoch() % grid);
}

}  // namespace holdfast::core
