#pragma once

#include "base/instant.hpp"
#include "spi/claims.hpp"

namespace holdfast::core {

/// What is known of one claim's lease, and what follows from it. Pure: time comes in.
///
/// V, the local deadline, is when the lease was certainly running, plus the lease, less an allowance for clocks whose
/// rates differ. It only moves forward, and only by what the store acknowledged.
class Lease {
 public:
  /// A lease of `ttl`, not yet acknowledged.
  explicit Lease(spi::milliseconds ttl = {}) : ttl_(ttl) {}

  /// The store acknowledged that `length` ran from `armed_at` on.
  void armed(base::Instant armed_at, spi::milliseconds length);

  bool acknowledged() const { return valid_until_ != base::Instant::min(); }
  /// V.
  base::Instant valid_until() const { return valid_until_; }
  /// When to renew: a third of the ttl after the last acknowledged request was sent. (Not after `armed_at`: a store
  /// that proves one request late would be asked without a pause.) Rounded down to a coarse grid, so that claims that
  /// were armed at about the same time are renewed in the same batch.
  base::Instant renewal_due(base::Instant sent_at) const;

  spi::milliseconds ttl() const { return ttl_; }
  /// What the store gave when it last acknowledged the lease; the ttl before that.
  spi::milliseconds length() const { return length_; }

 private:
  spi::milliseconds ttl_;
  spi::milliseconds length_ = ttl_;
  base::Instant valid_until_ = base::Instant::min();
};

/// The part of a lease that is given away because two clocks may differ in rate: 1 % and 2 ms.
constexpr base::Duration drift_allowance(spi::milliseconds lease) {
  return base::Duration(lease) / 100 + std::chrono::milliseconds(2);
}

}  // namespace holdfast::core
