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

/// `std::shared_timed_mutex` across machines: held by one writer, or by any number of readers.
///
///     holdfast::SharedMutex mutex(client, "price-list");
///     std::shared_lock reading(mutex);
///
/// Readers and writers wait in one line. Whoever comes behind a waiting writer waits for that writer, so writers are
/// not starved; readers that stand behind one another are admitted together. All readers of one client that want the
/// same ttl share one claim in the store, within the limits that ClientOptions::local_turns sets.
///
/// A reader's token is at least that of the last writer before it and smaller than that of the next writer, so a
/// resource that checks tokens knows which version it may show. Readers may have equal tokens.
///
/// A reader cannot become a writer, because two readers that want to would wait for each other for ever. A writer can
/// become a reader without releasing the lock: see downgrade().
///
/// It is the same lock as a Mutex of that name, which is a writer. Thread-safe. Errors, stop_tokens and the two ways to
/// hold the lock are those of Mutex. The shared calls answer Errc::unsupported if the store does not support shared
/// locks (StoreTraits::shared).
class HOLDFAST_EXPORT SharedMutex {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  SharedMutex(Client& client, const LockName& name, LockOptions options = {});
  ~SharedMutex();
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  // Writing, by thread. lock() and lock_shared() throw std::errc::resource_deadlock_would_occur (as a
  // std::system_error) if this thread has locked the mutex already, in either way. The functions that try return false
  // then.

  void lock() { lock({}); }
  void lock(std::stop_token stop);
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_lock_within(ClaimMode::exclusive, detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return try_lock_within(ClaimMode::exclusive, detail::time_until(deadline), std::move(stop));
  }
  /// Works as Mutex::unlock(). If this thread is a reader, nothing changes.
  void unlock() noexcept;
  /// Turns this thread's lock() into a lock_shared(), as Hold::downgrade() does. Throws Errc::not_held if this thread
  /// does not hold the lock.
  void downgrade();

  // Reading, by thread.

  void lock_shared() { lock_shared({}); }
  void lock_shared(std::stop_token stop);
  bool try_lock_shared();
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return try_lock_within(ClaimMode::shared, detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return try_lock_within(ClaimMode::shared, detail::time_until(deadline), std::move(stop));
  }
  void unlock_shared() noexcept;

  /// The calling thread's hold, of either kind. Throws Errc::not_held if it has none. The reference is valid until this
  /// thread unlocks.
  const Hold& hold() const;

  // Writing, by handle.

  Hold acquire(std::stop_token stop = {});
  [[nodiscard]] std::optional<Hold> try_acquire();
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_for(const std::chrono::duration<Rep, Period>& duration,
                                                    std::stop_token stop = {}) {
    return try_acquire_within(ClaimMode::exclusive, detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<Hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                                      std::stop_token stop = {}) {
    return try_acquire_within(ClaimMode::exclusive, detail::time_until(deadline), std::move(stop));
  }
  void async_acquire(AcquireCallback callback, std::stop_token stop = {});
  template <detail::CompletionToken<Hold> Token>
  auto async_acquire(Token&& token) {
    return detail::AsioFor<Token, Hold>::initiate(std::forward<Token>(token),
                                                  [this](AcquireCallback callback, std::stop_token stop) {
                                                    async_acquire(std::move(callback), std::move(stop));
                                                  });
  }

  // Reading, by handle.

  Hold acquire_shared(std::stop_token stop = {});
  [[nodiscard]] std::optional<Hold> try_acquire_shared();
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_shared_for(const std::chrono::duration<Rep, Period>& duration,
                                                           std::stop_token stop = {}) {
    return try_acquire_within(ClaimMode::shared, detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<Hold> try_acquire_shared_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                                             std::stop_token stop = {}) {
    return try_acquire_within(ClaimMode::shared, detail::time_until(deadline), std::move(stop));
  }
  void async_acquire_shared(AcquireCallback callback, std::stop_token stop = {});
  template <detail::CompletionToken<Hold> Token>
  auto async_acquire_shared(Token&& token) {
    return detail::AsioFor<Token, Hold>::initiate(std::forward<Token>(token),
                                                  [this](AcquireCallback callback, std::stop_token stop) {
                                                    async_acquire_shared(std::move(callback), std::move(stop));
                                                  });
  }

  const LockName& name() const noexcept;

 private:
  void lock_as(ClaimMode mode, const std::stop_token& stop);
  void unlock_as(ClaimMode mode) noexcept;
  bool try_lock_within(ClaimMode mode, std::chrono::nanoseconds wait, std::stop_token stop);
  std::optional<Hold> try_acquire_within(ClaimMode mode, std::chrono::nanoseconds wait, std::stop_token stop);

  std::unique_ptr<core::ClientLock> lock_;
};

}  // namespace holdfast
