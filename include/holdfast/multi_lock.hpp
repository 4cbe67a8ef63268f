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

/// Several locks that are held together: when one of them is lost, all are. Released when this object is destroyed.
/// Thread-safe, except for moving, assigning and destroying.
class [[nodiscard]] HOLDFAST_EXPORT MultiHold {
 public:
  /// Holds nothing.
  MultiHold() noexcept;
  MultiHold(MultiHold&&) noexcept;
  /// Releases what was held before.
  MultiHold& operator=(MultiHold&&) noexcept;
  /// Releases all, the last one first, without waiting for the stores' answers.
  ~MultiHold();

  /// Whether this object stands for any holds at all, in whatever state.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// All that follow throw Errc::not_held if *this stands for nothing; only valid() is then false.

  /// One token for each lock, in the order in which the locks were given to the MultiLock.
  std::vector<Token> tokens() const;
  /// The worst of all: lost if any is lost, at_risk if any is.
  HoldState state() const;
  /// All are held or at_risk, and no lease has ended.
  bool valid() const noexcept;
  /// The shortest of all.
  std::chrono::nanoseconds remaining() const;
  /// Triggered when any lock is lost; the others are then given back.
  std::stop_token stop_token() const;

  /// Gives all back, the last one first, and waits for the stores' answers. One answer for each lock, in the order of
  /// tokens(): a release that fails does not keep the others from being released.
  std::vector<Released> release();

 private:
  friend class core::MultiLockState;
  explicit MultiHold(std::shared_ptr<core::MultiHoldState> state) noexcept;

  std::shared_ptr<core::MultiHoldState> state_;
};

/// Several locks taken together: all of them, or none. They may be in different stores.
///
///     holdfast::MultiLock transfer(client, {"account/17", "account/42"});
///     std::scoped_lock lock(transfer);
///
/// There is one deadline for all. Locks of one client are taken in the order of their names, whatever order they are
/// given in, so that two MultiLocks never wait for each other. Between clients there is no such order: while the locks
/// of one are held, those of the next are waited for only a short while; if that is not enough everything is given
/// back, and after a random pause it starts again with the one that was busy.
///
/// Thread-safe. Errors and stop_tokens as with Mutex; whatever goes wrong, nothing stays locked.
class HOLDFAST_EXPORT MultiLock {
 public:
  struct Part {
    std::reference_wrapper<Client> client;
    LockName name;
  };

  /// Contacts nobody. Throws Errc::invalid_argument for bad options, for no name at all, and for a name given twice.
  MultiLock(Client& client, const std::vector<LockName>& names, LockOptions options = {});
  /// Locks of several clients, and so of several stores.
  explicit MultiLock(const std::vector<Part>& parts, LockOptions options = {});
  ~MultiLock();
  MultiLock(const MultiLock&) = delete;
  MultiLock& operator=(const MultiLock&) = delete;

  /// By thread: as Mutex's.
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
  /// This thread's hold. Throws Errc::not_held if it has none. Valid until this thread unlocks.
  const MultiHold& hold() const;

  /// By handle.
  MultiHold acquire(std::stop_token stop = {});
  [[nodiscard]] std::optional<MultiHold> try_acquire();
  /// Empty if they could not all be had in time. Zero tries once; a negative duration throws Errc::invalid_argument.
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

/// Takes the first of several locks that is free, in the order given; empty if all are busy. Hold::name() says which.
/// So each of many workers picks a task that nobody else works on.
///
///     auto task = holdfast::try_lock_any(client, {"task/1", "task/2", "task/3"});
[[nodiscard]] HOLDFAST_EXPORT std::optional<Hold> try_lock_any(Client& client, const std::vector<LockName>& names,
                                                               const LockOptions& options = {});

}  // namespace holdfast
