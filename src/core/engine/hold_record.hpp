#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/callback.hpp"
#include "base/instant.hpp"
#include "core/engine/user_side.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/token.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::core {

class Cell;
class HoldGroup;

/// One hold, shared by the user's Hold and by the cell that grants it.
///
/// `name`, `token`, `permits` and `lease` never change. `state`, `mode` and `valid_until` are written under the monitor
/// and read anywhere. The rest is touched under the monitor only.
class HoldRecord {
 public:
  HoldRecord(HoldGroup& group, std::shared_ptr<const LockName> its_name, Token its_token, const spi::Mode& its_mode);
  ~HoldRecord();

  const std::shared_ptr<const LockName> name;
  const Token token;
  const std::uint32_t permits;
  const spi::milliseconds lease;

  ClaimMode mode() const { return mode_.load(std::memory_order_relaxed); }

  /// The truth at `now`, whatever anybody has noticed so far. Whoever sees it lost has seen it lost for everybody: it
  /// is never held again, even if a renewal is being heard at this very moment.
  HoldState state_at(base::Instant now);
  /// Somebody saw it lost before the client noticed.
  bool seen_lost() const { return group_ != nullptr && state_.load(std::memory_order_acquire) == HoldState::lost; }
  base::Instant valid_until() const {
    return base::Instant(base::Duration(valid_until_.load(std::memory_order_acquire)));
  }

  // Under the monitor.

  /// Null once the hold has ended.
  HoldGroup* group() const { return group_; }
  Cell* cell() const;
  void move_to(HoldGroup& group) { group_ = &group; }
  void make_shared() { mode_.store(ClaimMode::shared, std::memory_order_relaxed); }
  /// The hold ends at `instant`, whatever the lease (max_hold). `on_due` runs then.
  void end_at(base::Instant instant, spi::Loop& loop, spi::Timer::OnDue on_due);
  base::Instant ends_at() const;
  void extend_until(base::Instant instant) {
    const base::Instant end = std::min(instant, ends_at());
    valid_until_.store(end.time_since_epoch().count(), std::memory_order_release);
  }
  /// Moves between held and at_risk.
  void set_at_risk(bool at_risk, UserSide& user);
  /// Ends the hold: nothing changes afterwards. Tells the user if it is lost.
  void end(HoldState last, UserSide& user);
  /// The hold that was released turned out to be gone before.
  void was_lost_before() { state_.store(HoldState::lost, std::memory_order_release); }

  std::stop_token stop_token();
  void on_change(base::Callback<void(HoldState)> callback, UserSide& user);
  void on_release_request(base::Callback<void(const ReleaseRequest&)> callback, UserSide& user);
  void asked_for(const ReleaseRequest& request, UserSide& user);
  /// -1 with errno if there are no descriptors left.
  int lost_fd();

 private:
  friend class HoldList;

  /// What few holds need: made when first asked for.
  struct Signals;
  Signals& signals();
  void tell(HoldState state, UserSide& user);

  std::atomic<HoldState> state_{HoldState::held};
  std::atomic<ClaimMode> mode_;
  std::atomic<base::Duration::rep> valid_until_{0};
  HoldGroup* group_;
  std::shared_ptr<HoldRecord> next_;  ///< in its group's list
  HoldRecord* previous_ = nullptr;
  std::unique_ptr<Signals> signals_;
};

}  // namespace holdfast::core
