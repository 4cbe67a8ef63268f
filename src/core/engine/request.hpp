#pragma once

#include <memory>
#include <optional>

#include "base/intrusive_list.hpp"
#include "core/engine/claim.hpp"
#include "core/engine/hold_record.hpp"
#include "holdfast/options.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::core {

/// One call that wants a lock: it stands in a cell's line until it is answered. Lives with its caller (on the stack of
/// a blocked thread, on the heap of an asynchronous one), which keeps it until `done` has run.
struct Request : base::ListNode<Request> {
  using Answer = spi::Result<std::shared_ptr<HoldRecord>>;

  /// REQUIRES: `options` outlives the request.
  Request(const LockOptions& how, spi::WhenBusy busy, base::Instant until, base::Callback<void(Answer)> on_answer,
          const spi::Mode& its_mode = {})
      : options(how), mode(its_mode), when_busy(busy), deadline(until), done(std::move(on_answer)) {}

  bool exclusive() const { return mode.kind == ClaimMode::exclusive; }
  bool shared() const { return mode.kind == ClaimMode::shared; }
  /// It will not wait.
  bool is_try() const { return when_busy == spi::WhenBusy::refuse; }
  /// What it wants of the store.
  Claim::Terms terms() const {
    return {.ttl = options.ttl, .lock_delay = options.lock_delay, .mode = mode, .lease_kind = options.lease};
  }

  const LockOptions& options;
  const spi::Mode mode;
  const spi::WhenBusy when_busy;
  const base::Instant deadline;
  /// A try is answered with the first failure of the store, because it will not wait; unless that comes before this.
  base::Instant outlasts_failures_until = base::Instant::min();
  /// One of the failures that it has outlasted may have been a grant.
  bool in_doubt = false;
  /// Runs exactly once, under the monitor, when the request is no longer in any line.
  base::Callback<void(Answer)> done;

  // The cell's notes.
  base::Instant entered_at = {};
  std::optional<spi::Timer> timer;
};

}  // namespace holdfast::core
