#include "core/lease.hpp"

#include <algorithm>

namespace holdfast::core {

using spi::Duration;
using spi::Instant;

void Lease::armed(Instant armed_at, spi::milliseconds length) {
  if (armed_at == Instant::min()) return;
  armed_at_ = std::max(armed_at_, armed_at);
  valid_until_ = std::max(valid_until_, spi::saturating_add(armed_at, Duration(length) - drift_allowance(length)));
}

Instant Lease::renewal_due() const {
  const Duration interval = Duration(ttl_) / 3;
  const Duration grid = std::max(interval / 8, Duration(1));
  const Instant due = spi::saturating_add(armed_at_, interval);
  return Instant(due.time_since_epoch() - due.time_since_epoch() % grid);
}

}  // namespace holdfast::core
