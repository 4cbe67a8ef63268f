#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast {

namespace core {
class MultiLockState;
class MultiHoldState;
}  // namespace core

/// Several locks that are held together: if one of them is lost, all of them are. They are released when this object is
/// destroyed. Thread-safe, except for moving, assigning and destroying.
class [[nodiscard]] HOLDFAST_EXPORT MultiHold {
 public:
  /// An empty hold.
  MultiHold() noexcept;
  MultiHold(MultiHold&&) noexcept;
  /// Releases first what *this held before.
  MultiHold& operator=(MultiHold&&) noexcept;
  /// Releases all locks, the one that was acquired last first, without waiting for the stores' answers.
  ~MultiHold();

  /// Whether this object refers to any holds at all, in whatever state.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// One token for each lock, in the order in which the names were passed to the MultiLock. Like all functions below
  /// except valid(), it throws Errc::not_held if *this is empty; valid() is then false.
  std::vector<Token> tokens() const;
  /// The worst of all states: lost if any lock is lost, at_risk if any lock is at risk.
  HoldState state() const;
  /// Whether all locks are held or at_risk and none of their leases has ended.
  bool valid() const noexcept;
  /// The shortest of the remaining times.
  std::chrono::nanoseconds remaining() const;
  /// A token that is triggered when any of the locks is lost. The other locks are then released.
  std::stop_token stop_token() const;

  /// Releases all locks, the one that was acquired last first, and waits for the stores' answers. Returns one answer
  /// for each lock, in the order of tokens(). A release that fails does not keep the others from being released.
  std::vector<Released> release();

 private:
  friend class core::MultiLockState;
  explicit MultiHold(std::shared_ptr<core::MultiHoldState> state) noexcept;

  std::shared_ptr<core::MultiHoldState> state_;
};

/// Several locks that are acquired together: all of them, or none. They may be in different stores.
///
///     holdfast::MultiLock transfer(client, {"account/17", "account/42"});
///     std::scoped_lock lock(transfer);
///
/// One deadline applies to all of them. The locks of one client are acquired in the order of their names, whatever the
/// order in which they were passed, so two MultiLocks never wait for each other. There is no such order between
/// clients: while the locks of one client are held, those of the next are waited for only briefly. If that is not
/// enough, all locks are released and, after a random pause, the attempt is repeated beginning with the client that was
/// busy.
///
/// Thread-safe. Errors and stop_tokens work as described for Mutex. Whatever goes wrong, no lock stays locked.
class HOLDFAST_EXPORT MultiLock {
 public:
  struct Part {
    std::reference_wrapper<Client> client;
    LockName name;
  };

  /// Does not contact the store. Throws Errc::invalid_argument if the options are invalid, if there is no name, or if a
  /// name occurs twice.
  MultiLock(Client& client, const std::vector<LockName>& names, LockOptions options = {});
  /// The same for locks of several clients, and thus of several stores.
  explicit MultiLock(const std::vector<Part>& parts, LockOptions options = {});
  ~MultiLock();
  MultiLock(const MultiLock&) = delete;
  MultiLock& operator=(const MultiLock&) = delete;

  /// Locking by thread, as with Mutex.
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
  void unlock() noexcept;
  /// The calling thread's hold. Throws Errc::not_held if it has none. The reference is valid until this thread unlocks.
  const MultiHold& hold() const;

  /// Locking by handle, as with Mutex.
  MultiHold acquire(std::stop_token stop = {});
  [[nodiscard]] std::optional<MultiHold> try_acquire();
  /// Returns empty if not all locks could be acquired in time. A duration of zero tries once; a negative one throws
  /// Errc::invalid_argument.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<MultiHold> try_acquire_for(const std::chrono::duration<Rep, Period>& duration,
                                                         std::stop_token stop = {}) {
    return try_acquire_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<MultiHold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                                           std::stop_token stop = {}) {
    return try_acquire_within(detail::time_until(deadline), std::move(stop));
  }
  void async_acquire(AsyncCallback<MultiHold> callback, std::stop_token stop = {});
  template <detail::CompletionToken<MultiHold> Token>
  auto async_acquire(Token&& token) {
    return detail::AsioFor<Token, MultiHold>::initiate(std::forward<Token>(token),
                                                       [this](AsyncCallback<MultiHold> callback, std::stop_token stop) {
                                                         async_acquire(std::move(callback), std::move(stop));
                                                       });
  }

 private:
  bool try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop);
  std::optional<MultiHold> try_acquire_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::MultiLockState> state_;
};

/// Acquires the first of several locks that is free, in the order given. Returns empty if all are busy; Hold::name()
/// says which one was acquired. In this way each of many workers can pick a task that nobody else is working on.
///
///     auto task = holdfast::try_lock_any(client, {"task/1", "task/2", "task/3"});
[[nodiscard]] HOLDFAST_EXPORT std::optional<Hold> try_lock_any(Client& client, const std::vector<LockName>& names,
                                                               const LockOptions& options = {});

}  // namespace holdfast
