#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "holdfast/export.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "holdfast/token.hpp"

namespace holdfast {

namespace core {
class ClientCore;
class HoldRecord;
}  // namespace core

/// The state of a hold.
///
/// | state    | meaning                                                                                             |
/// |----------|-----------------------------------------------------------------------------------------------------|
/// | held     | the store has acknowledged the lease, and it is running                                             |
/// | at_risk  | a renewal failed; the lock is still held, and becomes `held` if a later one succeeds in time        |
/// | lost     | the lease ended, or the lock was taken away; this state is final                                    |
/// | released | the lock was released; this state is final                                                          |
enum class HoldState : std::uint8_t { held, at_risk, lost, released };

/// The outcome of a release.
enum class Released {
  released,  ///< the store confirmed the release
  not_held,  ///< the lock was not held any more (lost, or released before); no other hold was affected
  in_doubt,  ///< no answer; at the latest, the lock becomes free when its lease ends
};

/// A lock that is held. It is released when this object is destroyed.
///
/// A hold ends by itself if its lease cannot be renewed in time, and it says so *before* the store may grant the lock
/// to somebody else. `valid()` and `state()` are exact: they read the clock on every call, so their answer is right
/// even directly after the process was stopped or the machine slept. `stop_token()`, the callback and `lost_fd()`
/// follow as soon as one of the client's threads runs; the lease keeps a margin of 1 % and 2 ms for that. There is no
/// such margin at the end of `max_hold`, nor when an operator takes the lock away. A lost hold never becomes valid
/// again.
///
/// Thread-safe, except for moving, assigning and destroying. A hold belongs to no thread in particular: any thread may
/// release it. In a forked child valid() is false and the destructor sends nothing.
///
///     holdfast::Hold hold = mutex.acquire();
///     while (work_left() && !hold.stop_token().stop_requested()) do_some_work(hold.token());
class [[nodiscard]] HOLDFAST_EXPORT Hold {
 public:
  using Callback = MoveOnlyFunction<void(HoldState)>;

  /// An empty hold.
  Hold() noexcept = default;
  Hold(Hold&&) noexcept = default;
  /// Releases first what *this held before.
  Hold& operator=(Hold&&) noexcept;
  /// Releases without waiting for the store's answer, as Mutex::unlock() does.
  ~Hold();

  /// Whether this object refers to a hold at all, in whatever state.
  explicit operator bool() const noexcept { return record_ != nullptr; }

  /// The lock's name. Like all functions below except valid(), it throws Errc::not_held if *this is empty; valid() is
  /// then false.
  const LockName& name() const;
  Token token() const;
  /// How the lock is held: exclusively, together with other readers, or as permits of a semaphore.
  ClaimMode mode() const;
  /// The number of permits that are held, or 1 if this is a lock.
  std::uint32_t permits() const;

  /// The length of the lease that the store gave: the ttl, or longer if the store has a longer minimum.
  std::chrono::milliseconds lease() const;

  HoldState state() const;
  /// Whether the state is held or at_risk and the lease has not ended.
  bool valid() const noexcept;
  /// The time until the lease ends unless it is renewed. Zero if the hold is not valid.
  std::chrono::nanoseconds remaining() const;

  /// A token that is triggered when the hold is lost, but not when it is released.
  std::stop_token stop_token() const;
  /// Calls `callback` with each new state (at_risk, held again, lost), on one of the client's own threads. It may block
  /// and may call Holdfast, but must not throw. The calls are made one at a time, and never with an older state after a
  /// newer one. If the hold is already lost, `callback` is called with that. Replaces an earlier callback; nullptr
  /// removes it.
  void on_change(Callback callback);
  /// Calls `callback` when somebody asks this holder to release the lock (Client::ask_to_release()), soon after and
  /// once for each request. A request with the reason and the deadline of an earlier one counts as the same. The calls
  /// are made like those of on_change(). The holder decides whether to comply, but whoever asked may evict it when
  /// `within` is over. If somebody has asked already, `callback` is called with that request. Replaces an earlier
  /// callback; nullptr removes it.
  void on_release_request(MoveOnlyFunction<void(const ReleaseRequest&)> callback);
  /// A descriptor that becomes readable when the hold is lost, for poll() and its relatives. It belongs to the hold: do
  /// not read from it or close it. Throws Errc::exhausted when the process has no descriptors left.
  int lost_fd() const;

  /// Releases the lock and waits for the store's answer, for at most about a sixth of the ttl. Afterwards the state is
  /// `released` or `lost`, and another release answers not_held. Never throws because of what the store did.
  Released release();

  /// Makes the lease last for at least `duration` from now, and never shortens it. Throws Errc::invalid_argument if
  /// `duration` is not more than zero and at most LockOptions::max_ttl, Errc::lost or Errc::not_held if there is
  /// nothing to extend, and Errc::in_doubt if the store did not answer in time.
  template <class Rep, class Period>
  void extend(const std::chrono::duration<Rep, Period>& duration) {
    extend_by(detail::saturated(duration));
  }

  /// Turns an exclusive hold into a shared one without releasing it: waiting readers are admitted, waiting writers keep
  /// waiting. The token stays the same. The hold counts as shared from the moment of the call, whatever happens. If the
  /// store does not confirm the change in time, the call throws Errc::in_doubt; others may then have to wait a while
  /// longer, and the store is told again. Does nothing if the hold is shared already.
  ///
  /// Throws Errc::lost, Errc::not_held, Errc::invalid_argument if the hold is one of permits, and Errc::unsupported,
  /// without any change, if the store does not support shared locks.
  void downgrade();

  /// The asynchronous forms of these three. `callback` receives the outcome.
  void async_release(AsyncCallback<Released> callback);
  template <class Rep, class Period>
  void async_extend(const std::chrono::duration<Rep, Period>& duration, AsyncCallback<> callback) {
    async_extend_by(detail::saturated(duration), std::move(callback));
  }
  void async_downgrade(AsyncCallback<> callback);

  template <detail::CompletionToken<Released> CompletionToken>
  auto async_release(CompletionToken&& token) {
    return detail::AsioFor<CompletionToken, Released>::initiate(
        std::forward<CompletionToken>(token),
        [this](AsyncCallback<Released> callback, const std::stop_token&) { async_release(std::move(callback)); });
  }
  template <class Rep, class Period, detail::CompletionToken<> CompletionToken>
  auto async_extend(const std::chrono::duration<Rep, Period>& duration, CompletionToken&& token) {
    return detail::AsioFor<CompletionToken>::initiate(
        std::forward<CompletionToken>(token), [this, duration](AsyncCallback<> callback, const std::stop_token&) {
          async_extend(duration, std::move(callback));
        });
  }
  template <detail::CompletionToken<> CompletionToken>
  auto async_downgrade(CompletionToken&& token) {
    return detail::AsioFor<CompletionToken>::initiate(
        std::forward<CompletionToken>(token),
        [this](AsyncCallback<> callback, const std::stop_token&) { async_downgrade(std::move(callback)); });
  }

 private:
  friend class core::ClientCore;
  Hold(std::shared_ptr<core::ClientCore> core, std::shared_ptr<core::HoldRecord> record) noexcept
      : core_(std::move(core)), record_(std::move(record)) {}
  void extend_by(std::chrono::nanoseconds duration);
  void async_extend_by(std::chrono::nanoseconds duration, AsyncCallback<> callback);
  core::HoldRecord& record() const;

  std::shared_ptr<core::ClientCore> core_;
  std::shared_ptr<core::HoldRecord> record_;
};

}  // namespace holdfast
