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

/// A lock for a fleet of processes: `std::mutex` across machines.
///
/// There are two ways to hold it. As a standard Lockable and TimedLockable, the lock belongs to the *thread* that
/// locked it:
///
///     holdfast::Client client("memory:");
///     holdfast::Mutex mutex(client, "nightly-report");
///     std::scoped_lock lock(mutex);
///
/// By handle, it belongs to a Hold object, which any thread may release and which tells when the lock is lost:
///
///     holdfast::Hold hold = mutex.acquire();
///     write_report(hold.token());
///
/// All Mutex objects of the same client and name are the same lock. Waiters are served in the order of their arrival,
/// as far as the store promises that. Thread-safe. A Mutex may outlive its Client; every call then answers
/// Errc::closed.
///
/// Every call except unlock() throws Error if the store cannot be reached or refuses the request, or if the client was
/// closed or forked. A call with a stop_token throws Errc::cancelled within about 100 ms after the token was triggered.
///
/// The calls that follow the standard's names follow its rules, so try_lock_for() with a negative duration tries once.
/// try_acquire_for() and async_try_acquire_for(), which are Holdfast's own, refuse a negative duration with
/// Errc::invalid_argument, because it is nearly always the result of a computation that went wrong.
class HOLDFAST_EXPORT Mutex {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  Mutex(Client& client, const LockName& name, LockOptions options = {});
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Waits until this thread holds the lock. Throws std::errc::resource_deadlock_would_occur (as a std::system_error)
  /// if this thread has locked it before, through this or another Mutex object of the client, and has not unlocked it
  /// since, even if the lock was lost in the meantime.
  void lock() { lock({}); }
  void lock(std::stop_token stop);
  /// Returns false if somebody holds the lock, this thread included.
  bool try_lock();
  /// Returns false if the lock could not be acquired in time. A duration of zero or less tries once, as the standard
  /// says.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_lock_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return try_lock_within(detail::time_until(deadline), std::move(stop));
  }
  /// Releases the lock without waiting for the store's answer. An unlock() by a thread that does not hold the lock
  /// changes nothing. It is reported to ClientOptions::on_error, as is a release that the store never confirms.
  void unlock() noexcept;

  /// The calling thread's hold. Throws Errc::not_held if it has none. The reference is valid until this thread unlocks.
  const Hold& hold() const;

  /// Waits until the lock is held. The owner is the Hold and not the thread, so a thread that holds the lock and
  /// acquires it again waits for itself.
  Hold acquire(std::stop_token stop = {});
  /// Returns empty if somebody holds the lock.
  [[nodiscard]] std::optional<Hold> try_acquire();
  /// Returns empty if the lock could not be acquired in time. A duration of zero tries once; a negative one throws
  /// Errc::invalid_argument.
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

  /// Like acquire(), but returns at once. `callback` receives the outcome.
  void async_acquire(AcquireCallback callback, std::stop_token stop = {});
  /// Like try_acquire_for(), but returns at once. `callback` receives Errc::busy or Errc::timed_out if the lock could
  /// not be acquired in time.
  template <class Rep, class Period>
  void async_try_acquire_for(const std::chrono::duration<Rep, Period>& duration, AcquireCallback callback,
                             std::stop_token stop = {}) {
    async_try_acquire_within(detail::saturated(duration), std::move(callback), std::move(stop));
  }

  /// The same with one of Asio's completion tokens, which needs <holdfast/asio.hpp>: `Hold hold = co_await
  /// mutex.async_acquire(asio::use_awaitable);`
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
