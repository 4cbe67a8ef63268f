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

/// | state    | meaning                                                                                      |
/// |----------|----------------------------------------------------------------------------------------------|
/// | held     | the lease is acknowledged and runs                                                           |
/// | at_risk  | a renewal failed; still held, and held again if a later one succeeds before the lease ends   |
/// | lost     | the lease ended, or the lock was taken away; final                                           |
/// | released | given back; final                                                                            |
enum class HoldState : std::uint8_t { held, at_risk, lost, released };

/// What became of a release.
enum class Released {
  released,  ///< the store confirmed it
  not_held,  ///< there was nothing to release: lost, or released before; nobody else's hold was touched
  in_doubt,  ///< no answer; the store gives the lock away when the lease ends, at the latest
};

/// A lock that is held: released when this object is destroyed.
///
/// A hold ends by itself when its lease cannot be renewed in time. It then says so *before* the store may give the lock
/// to somebody else. `valid()` and `state()` are exact: they read the clock on every call, so they tell the truth even
/// right after the process was stopped or the machine slept. `stop_token()`, the callback and `lost_fd()` follow as
/// soon as a thread of the client's runs, for which the lease keeps a margin (1 % and 2 ms); at the end of `max_hold`,
/// and when an operator breaks the lock, there is no margin. A lost hold never comes back to life.
///
/// Thread-safe, except for moving, assigning and destroying. Belongs to nobody in particular: any thread may
/// release it. In a forked child valid() is false and the destructor sends nothing.
///
///     holdfast::Hold hold = mutex.acquire();
///     while (work_left() && !hold.stop_token().stop_requested()) do_some_work(hold.token());
class [[nodiscard]] HOLDFAST_EXPORT Hold {
 public:
  using Callback = MoveOnlyFunction<void(HoldState)>;

  /// Holds nothing.
  Hold() noexcept = default;
  Hold(Hold&&) noexcept = default;
  /// Releases what was held before.
  Hold& operator=(Hold&&) noexcept;
  /// Releases without waiting for the store's answer, as Mutex::unlock() does.
  ~Hold();

  /// Whether this object stands for a hold at all, in whatever state.
  explicit operator bool() const noexcept { return record_ != nullptr; }

  /// All that follow throw Errc::not_held if *this stands for no hold; only valid() is then false.
  const LockName& name() const;
  Token token() const;
  /// How it is held: alone, with other readers, or as some of many permits.
  ClaimMode mode() const;
  /// How many permits; 1 if it is a lock.
  std::uint32_t permits() const;

  /// How long the lease is that the store gave: the ttl, or longer where the store has none so short.
  std::chrono::milliseconds lease() const;

  HoldState state() const;
  /// held or at_risk, and the lease has not ended.
  bool valid() const noexcept;
  /// Time until the lease ends unless it is renewed; zero when not valid.
  std::chrono::nanoseconds remaining() const;

  /// Triggered when the hold is lost; not by a release.
  std::stop_token stop_token() const;
  /// `callback` is called with each new state (at_risk, held again, lost), on a thread of the client's own; it may
  /// block and may call Holdfast, and must not throw. One call at a time, and never with an older state after a newer
  /// one. If the hold is already lost, it is called with that. Replaces an earlier callback.
  void on_change(Callback callback);
  /// `callback` is called when somebody asks this holder to let go (Client::ask_to_release), once for each request,
  /// soon after it was made (one with the reason and the end of another is the same); called like that of on_change().
  /// Letting go is up to the holder: whoever asked may evict it when `within` is over. If it was asked already, it is
  /// called with that. Replaces an earlier callback.
  void on_release_request(MoveOnlyFunction<void(const ReleaseRequest&)> callback);
  /// A descriptor that becomes readable when the hold is lost, for poll() and its relatives. Do not read from it or
  /// close it: it belongs to the hold. Throws Errc::exhausted when the process has no descriptors left.
  int lost_fd() const;

  /// Gives the lock back and waits for the store's answer, at most about a sixth of the ttl. *this keeps its state,
  /// `released` or `lost`, and releasing again answers not_held. Never throws for what the store did.
  Released release();

  /// Makes the lease last at least `duration` from now (more than zero, at most LockOptions::max_ttl; else throws
  /// Errc::invalid_argument); never shortens it. Throws Errc::lost or Errc::not_held when there is nothing to extend,
  /// Errc::in_doubt when the store did not answer in time.
  template <class Rep, class Period>
  void extend(const std::chrono::duration<Rep, Period>& duration) {
    extend_by(detail::saturated(duration));
  }

  /// Makes an exclusive hold a shared one without letting go: waiting readers enter, waiting writers keep waiting. The
  /// token stays. From the call on this hold is shared, whatever happens; if the store does not confirm it in time,
  /// throws Errc::in_doubt, others may have to wait for a while longer, and the store is told again. Does nothing if it
  /// is shared already. Throws Errc::lost, Errc::not_held, Errc::invalid_argument for permits, and Errc::unsupported
  /// where the store has no shared locks: then nothing has changed.
  void downgrade();

  /// The same three without waiting: `callback` hears how they ended.
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
