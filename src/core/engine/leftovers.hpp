#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "holdfast/hold.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::core {

class Engine;

/// The claims on one name that this client is done with and the store may still have. Each is released until the store
/// confirms it, or has surely dropped it by itself. (Where the lease is the session's, that is never.)
///
/// Whoever takes a lock again as soon as it was given back costs the store two writes. Where writes are slow
/// (Backend::release_may_wait), a release that nobody waits for is kept for a moment, if last time an acquire followed
/// at once: that acquire can replace the claim, and both are one write.
class Leftovers {
 public:
  using Told = base::Callback<void(Released)>;

  using OnIdle = base::Callback<void(), sizeof(void*)>;

  /// `on_idle` runs when the last one is settled; the owner may be gone afterwards.
  Leftovers(Engine& engine, const LockName& name, OnIdle on_idle);

  struct Leftover {
    spi::ClaimId id;
    LockKind kind;
    /// When the store has dropped it by itself.
    base::Instant until;
    spi::milliseconds lease;
    /// Whether the user hears if it is never confirmed: not of what was lost anyway.
    bool report = true;
    /// Hears what the first answer says. May be empty.
    Told told = {};
  };
  enum class When : std::uint8_t {
    now,
    soon,  ///< it may be kept for a moment: nothing of ours waits behind it
  };
  /// Releases it, retrying until it is settled.
  void release(Leftover leftover, When when = When::now);
  /// An acquire is about to replace it, so no release is needed: until that acquire succeeds, or is given up.
  void cover(Leftover leftover);

  /// What the next acquire should replace.
  std::optional<spi::ClaimId> newest() const;
  /// An acquire replaced it.
  void replaced(spi::ClaimId id);
  /// The acquire that should have replaced it failed.
  void replacing_failed(spi::ClaimId id);
  /// A new claim is about to be acquired. What an earlier acquire should have replaced is released.
  void before_acquire();
  /// No acquire will replace anything: releases what was covered, or kept for a moment.
  void uncover();

  /// The backend is about to be closed: forgets what no request is under way for. Those that are will be failed by it.
  void abandon();

  bool idle() const { return entries_.empty() && in_flight_ == 0; }

 private:
  struct Entry : Leftover {
    bool covered = false;
    bool under_way = false;
    base::Duration backoff = {};
    base::Instant again_at = base::Instant::max();
  };

  Entry* find(spi::ClaimId id);
  void erase(const Entry& entry);
  void send(Entry& entry);
  void answered(spi::ClaimId id, const spi::Result<bool>& answer);
  void timer_due();
  void set_timer();

  Engine& engine_;
  const LockName& name_;
  OnIdle on_idle_;
  std::vector<Entry> entries_;
  std::uint32_t in_flight_ = 0;
  bool asked_at_once_ = false;  ///< the last acquire came soon after the release before it
  base::Instant released_at_ = base::Instant::min();
  spi::Timer timer_;
};

}  // namespace holdfast::core
