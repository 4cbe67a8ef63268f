#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

#include "holdfast/async.hpp"
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

/// One lock for a fleet of processes: `std::mutex` across machines.
///
/// There are two ways to hold it. As a standard Lockable and TimedLockable, where the locking *thread* owns it:
///
///     holdfast::Client client("memory:");
///     holdfast::Mutex mutex(client, "nightly-report");
///     std::scoped_lock lock(mutex);
///
/// and by handle, where the Hold owns it, any thread may release it, and it tells when it is lost:
///
///     holdfast::Hold hold = mutex.acquire();
///     write_report(hold.token());
///
/// Mutex objects of the same client and name are the same lock. Waiters are served in order of arrival, as far as
/// the store promises it. Thread-safe. May outlive its Client: then every call answers Errc::closed.
///
/// Every call but unlock() throws Error when the store is unreachable, refuses, or the client is closed or forked.
/// Calls with a stop_token throw Errc::cancelled once it is triggered, within about 100 ms.
class HOLDFAST_EXPORT Mutex {
 public:
  /// Contacts nobody. Throws Errc::invalid_argument for a bad name or bad options.
  Mutex(Client& client, const LockName& name, LockOptions options = {});
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Waits until the lock is held by this thread. Throws std::errc::resource_deadlock_would_occur (as a
  /// std::system_error) if this thread has locked it already, through this or another mutex object of the client, and
  /// not unlocked it since; also if it was lost meanwhile.
  void lock() { lock({}); }
  void lock(std::stop_token stop);
  /// False if somebody holds it, this thread included.
  bool try_lock();
  /// False if it could not be had in time. A duration of zero or less tries once, as the standard says.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_lock_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return try_lock_within(detail::time_until(deadline), std::move(stop));
  }
  /// Gives the lock back without waiting for the store's answer. An unlock() by a thread that does not hold it changes
  /// nothing and is reported to ClientOptions::on_error, and so is a release that the store never confirmed.
  void unlock() noexcept;

  /// This thread's hold. Throws Errc::not_held if it has none. Valid until this thread unlocks.
  const Hold& hold() const;

  /// Waits until the lock is held. Knows no owner but the Hold: a thread that holds the lock and acquires it again
  /// waits for itself.
  Hold acquire(std::stop_token stop = {});
  /// Empty if somebody holds it.
  [[nodiscard]] std::optional<Hold> try_acquire();
  /// Empty if it could not be had in time. Zero tries once; a negative duration throws Errc::invalid_argument.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_for(const std::chrono::duration<Rep, Period>& duration,
                                                    std::stop_token stop = {}) {
    return try_acquire_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<Hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                                      std::stop_token stop = {}) {
    return try_acquire_within(detail::time_until(deadline), std::move(stop));
  }

  /// Like acquire(), but returns at once; `callback` hears how it ended.
  void async_acquire(AcquireCallback callback, std::stop_token stop = {});
  /// Like try_acquire_for(): Errc::busy or Errc::timed_out if it could not be had in time.
  template <class Rep, class Period>
  void async_try_acquire_for(const std::chrono::duration<Rep, Period>& duration, AcquireCallback callback,
                             std::stop_token stop = {}) {
    async_try_acquire_within(detail::saturated(duration), std::move(callback), std::move(stop));
  }

  /// The same for Asio, with <holdfast/asio.hpp>: `Hold hold = co_await mutex.async_acquire(asio::use_awaitable);`
  template <detail::CompletionToken<Hold> Token>
  auto async_acquire(Token&& token) {
    return detail::AsioFor<Token, Hold>::initiate(std::forward<Token>(token),
                                                  [this](AcquireCallback callback, std::stop_token stop) {
                                                    async_acquire(std::move(callback), std::move(stop));
                                                  });
  }
  template <class Rep, class Period, detail::CompletionToken<Hold> Token>
  auto async_try_acquire_for(const std::chrono::duration<Rep, Period>& duration, Token&& token) {
    return detail::AsioFor<Token, Hold>::initiate(
        std::forward<Token>(token), [this, duration](AcquireCallback callback, std::stop_token stop) {
          async_try_acquire_for(duration, std::move(callback), std::move(stop));
        });
  }

  const LockName& name() const noexcept;

 private:
  bool try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop);
  std::optional<Hold> try_acquire_within(std::chrono::nanoseconds wait, std::stop_token stop);
  void async_try_acquire_within(std::chrono::nanoseconds wait, AcquireCallback callback, std::stop_token stop);

  std::unique_ptr<core::ClientLock> lock_;
};

}  // namespace holdfast
