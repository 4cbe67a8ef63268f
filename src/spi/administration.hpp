#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "spi/result.hpp"

namespace holdfast::spi {

/// Operations for operators. `kind` is lock or semaphore: a store knows no others. Every request is answered within
/// longest_patience, or fails then.
class Administration {
 public:
  virtual ~Administration() = default;

  /// One lock or semaphore; empty if nobody holds it and nobody waits for it. As cheap as other requests about one
  /// name.
  virtual void show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) = 0;

  /// The locks and semaphores whose names begin with `prefix`, by name, and the lock of a name before its semaphore.
  /// Errc::unsupported where traits say that the store does not list.
  virtual void list(std::string_view prefix, Done<std::vector<LockStatus>> done) = 0;

  /// Withdraws the granted claims of a lock or a semaphore whose numbers are at most `up_to`; waiters move up. It also
  /// opens what such claims keep closed after their end (ClaimRequest::lock_delay). The number of claims withdrawn.
  static constexpr std::uint64_t all = static_cast<std::uint64_t>(-1);
  virtual void evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) = 0;

  /// Tells the holders, at their next renewal or sooner, that somebody wants the lock. A later request replaces an
  /// earlier one. The number of holders told.
  virtual void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                              Done<std::size_t> done) = 0;

  /// Changes how many permits a semaphore has, for everybody: raising admits waiters, lowering takes nothing away.
  /// Waiters that want more than there are now leave the line, and are told to check. False if nobody holds or waits:
  /// then whoever comes next decides. Errc::invalid_argument for a total of zero.
  virtual void resize(const LockName& name, std::uint32_t total, Done<bool> done) = 0;

  /// The store's time of day. Errc::unsupported where traits say that it has no clock.
  virtual void now(Done<std::chrono::system_clock::time_point> done) = 0;
};

}  // namespace holdfast::spi
