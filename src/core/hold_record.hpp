#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

#include "core/user_side.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/token.hpp"
#include "spi/instant.hpp"

namespace holdfast::core {

class Cell;

/// One hold, shared by the user's Hold and by the cell that grants it.
///
/// `name` and `token` never change. `state` and `valid_until` are written under the monitor and read
/// anywhere. The rest is touched under the monitor only.
class HoldRecord {
 public:
  HoldRecord(Cell& cell, std::shared_ptr<const LockName> its_name, Token its_token);
  ~HoldRecord();

  const std::shared_ptr<const LockName> name;
  const Token token;

  /// The truth at `now`, whatever anybody has noticed so far. Whoever sees it lost has seen it lost for everybody: it
  /// is never held again, even if a renewal is being heard at this very moment.
  HoldState state_at(spi::Instant now);
  /// Somebody saw it lost before the client noticed.
  bool seen_lost() const { return cell_ != nullptr && state_.load(std::memory_order_acquire) == HoldState::lost; }
  spi::Instant valid_until() const { return spi::Instant(spi::Duration(valid_until_.load(std::memory_order_acquire))); }

  // Under the monitor.

  /// Null once the hold has ended.
  Cell* cell() const { return cell_; }
  void extend_until(spi::Instant instant) {
    valid_until_.store(instant.time_since_epoch().count(), std::memory_order_release);
  }
  /// Moves between held and at_risk.
  void set_at_risk(bool at_risk, UserSide& user);
  /// Ends the hold: nothing changes afterwards. Tells the user if it is lost.
  void end(HoldState last, UserSide& user);
  /// The hold that was released turned out to be gone before.
  void was_lost_before() { state_.store(HoldState::lost, std::memory_order_release); }

  std::stop_token stop_token();
  void on_change(std::function<void(HoldState)> callback, UserSide& user);
  /// -1 with errno if there are no descriptors left.
  int lost_fd();

 private:
  /// What few holds need: made when first asked for.
  struct Signals;
  Signals& signals();
  void tell(HoldState state, UserSide& user);

  std::atomic<HoldState> state_{HoldState::held};
  std::atomic<spi::Duration::rep> valid_until_{0};
  Cell* cell_;
  std::unique_ptr<Signals> signals_;
};

}  // namespace holdfast::core
