#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "spi/result.hpp"

namespace holdfast::spi {

/// What people on call do to a store. Every request is answered within longest_patience, or fails then.
class Administration {
 public:
  virtual ~Administration() = default;

  /// The locks whose names begin with `prefix`, by name.
  virtual void list(std::string_view prefix, Done<std::vector<LockStatus>> done) = 0;

  /// Withdraws all granted claims of a name; waiters move up. The number of claims withdrawn.
  virtual void evict(const LockName& name, Done<std::size_t> done) = 0;

  /// Tells the holders, at their next renewal or sooner, that somebody wants the lock. The number of holders told.
  virtual void ask_to_release(const LockName& name, std::string reason, Done<std::size_t> done) = 0;

  /// The store's time of day. Errc::unsupported where traits say that it has no clock.
  virtual void now(Done<std::chrono::system_clock::time_point> done) = 0;
};

}  // namespace holdfast::spi
