#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>

#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast {

namespace core {
class ClientLock;
}

/// A Mutex that the thread that holds it may lock again. The last unlock() releases it.
///
/// Locking again costs no round trip, produces no new token and does not touch the lease. The depth is counted for each
/// thread and name, so two RecursiveMutex objects of one name nest in each other. It is the same lock as a Mutex of
/// that name. Thread-safe. Errors and stop_tokens work as described for Mutex.
///
///     holdfast::RecursiveMutex mutex(client, "ledger");
///     std::scoped_lock outer(mutex);
///     std::scoped_lock inner(mutex);  // nanoseconds
class HOLDFAST_EXPORT RecursiveMutex {
 public:
  /// Locking deeper than this throws Errc::too_deep.
  static constexpr std::size_t max_depth = 65'535;

  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  RecursiveMutex(Client& client, const LockName& name, LockOptions options = {});
  ~RecursiveMutex();
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;

  /// Works as Mutex::lock(), or goes one level deeper if this thread holds the lock. Throws Errc::lost if it held the
  /// lock and has lost it: unlock() it first, as often as it was locked.
  void lock() { lock({}); }
  void lock(std::stop_token stop);
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_lock_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return try_lock_within(detail::time_until(deadline), std::move(stop));
  }
  /// Works as Mutex::unlock(). Call it once for each lock().
  void unlock() noexcept;

  /// How many times this thread has locked the mutex. 0 if it does not hold it.
  std::size_t depth() const noexcept;
  /// The calling thread's hold. Throws Errc::not_held if it has none. The reference is valid until this thread's last
  /// unlock().
  const Hold& hold() const;

  const LockName& name() const noexcept;

 private:
  bool try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::unique_ptr<core::ClientLock> lock_;
};

}  // namespace holdfast
