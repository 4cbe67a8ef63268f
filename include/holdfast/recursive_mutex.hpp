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

/// A Mutex that its holding thread may lock again; it is given back at the last unlock().
///
/// Locking again costs no round trip, mints no new token and does not touch the lease. It is counted per thread and
/// name, so two RecursiveMutex objects of one name nest in each other. The same lock as a Mutex of that name.
/// Thread-safe; errors and stop_tokens as with Mutex.
///
///     holdfast::RecursiveMutex mutex(client, "ledger");
///     std::scoped_lock outer(mutex);
///     std::scoped_lock inner(mutex);  // nanoseconds
class HOLDFAST_EXPORT RecursiveMutex {
 public:
  /// Locking deeper throws Errc::too_deep.
  static constexpr std::size_t max_depth = 65'535;

  /// Contacts nobody. Throws Errc::invalid_argument for a bad name or bad options.
  RecursiveMutex(Client& client, const LockName& name, LockOptions options = {});
  ~RecursiveMutex();
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;

  /// Locking again a hold that was lost meanwhile throws Errc::lost: unlock() what was locked first.
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
  /// As Mutex::unlock(), once for each lock().
  void unlock() noexcept;

  /// How many times this thread has locked it; 0 if it does not hold it.
  std::size_t depth() const noexcept;
  /// This thread's hold. Throws Errc::not_held if it has none. Valid until this thread's last unlock.
  const Hold& hold() const;

  const LockName& name() const noexcept;

 private:
  bool try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::unique_ptr<core::ClientLock> lock_;
};

}  // namespace holdfast
