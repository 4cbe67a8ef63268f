#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast {

namespace core {
class OnceState;
}

/// How a job runs once per period. This is an aggregate: name the members that you change.
struct OnceOptions {
  /// After a run began, no other run begins for at least this time, even if the first one failed or crashed.
  std::chrono::milliseconds at_least = std::chrono::milliseconds::zero();
  /// A run that takes longer than this loses the lock (LockOptions::max_hold). Another run may then begin while the
  /// first one still works; only the token can tell the two apart. Zero means no limit.
  std::chrono::milliseconds at_most = std::chrono::milliseconds::zero();
  /// The options of the lock that is held during a run. Its max_hold is replaced by at_most.
  LockOptions lock = {};
};

/// A successful run, as the store remembers it.
struct LastRun {
  std::chrono::system_clock::time_point started = {};
  std::chrono::system_clock::time_point ended = {};
  std::int32_t result = 0;  ///< as passed to Run::succeed()
  Token token = {};
  std::string host = {};
};

/// A run in progress. If it is destroyed without a call of succeed(), it has failed, and anybody may try again. Not
/// thread-safe, except for what hold() offers.
class [[nodiscard]] HOLDFAST_EXPORT Run {
 public:
  Run() noexcept;
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  explicit operator bool() const noexcept;
  /// The lock that is held during the run, with its token; it also tells when the lock is lost.
  const Hold& hold() const;
  std::chrono::system_clock::time_point started() const;

  /// Records in the store that the job is done, and then releases the lock: nobody begins another run before the period
  /// is over. The record is durable before the lock is released. Throws Errc::lost if the lock was lost before the
  /// record could be written, or if another run has written one since, and Errc::in_doubt or Errc::unreachable if it is
  /// not certain that the record was written. The lock is released in any case.
  void succeed(std::int32_t result = 0);
  void async_succeed(std::int32_t result, AsyncCallback<> callback);
  template <detail::CompletionToken<> CompletionToken>
  auto async_succeed(std::int32_t result, CompletionToken&& token) {
    return detail::AsioFor<CompletionToken>::initiate(std::forward<CompletionToken>(token),
                                                      [this, result](AsyncCallback<> callback, const std::stop_token&) {
                                                        async_succeed(result, std::move(callback));
                                                      });
  }
  /// Records the same but keeps the lock until *this ends. Throws the same errors. May be called again.
  void record_success(std::int32_t result = 0);
  /// Releases the lock without recording a success, so that somebody else may try. The destructor does the same.
  void fail() noexcept;
  /// The same as fail(), but waits for the store's answer, as Hold::release() does.
  Released release();

 private:
  friend class core::OnceState;
  struct State;
  explicit Run(std::unique_ptr<State> state) noexcept;
  void remember(std::int32_t result) const;

  std::unique_ptr<State> state_;
};

/// The outcome of an attempt to begin a run.
struct [[nodiscard]] Attempt {
  enum class Outcome {
    begun,  ///< `run` is in progress
    done,   ///< there is nothing to do: a run has succeeded in this period
    busy,   ///< somebody else held the lock all the time
  };

  Outcome outcome = Outcome::busy;
  Run run = {};
};

/// A job that must succeed once per period, on one host of many.
///
///     holdfast::Once hourly(client, "hourly-sms", std::chrono::hours(1));
///     hourly.run([](const holdfast::Hold& hold) { send_sms(hold.token()); });
///
/// A run is skipped if a *successful* run began less than one period minus a slack ago. The slack is a tenth of the
/// period but at most one minute. With it, hosts whose timers fire a few seconds apart run the job once, and the next
/// period still runs it. Time is measured by the store if it has a clock (StoreTraits::has_clock), and otherwise by
/// this host; the recorded start never moves backwards. Periods that were missed are not made up for.
///
/// The lock of the same name is held during a run, so a Mutex of that name excludes it. Thread-safe. Errors and
/// stop_tokens work as described for Mutex.
class HOLDFAST_EXPORT Once {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid, or if the period
  /// is not positive.
  Once(Client& client, const LockName& name, std::chrono::milliseconds period, OnceOptions options = {});
  ~Once();
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  /// Begins a run unless one has succeeded in this period. If a run is in progress, waits for it to end, because it may
  /// fail. Returns empty if there is nothing to do.
  [[nodiscard]] std::optional<Run> begin(std::stop_token stop = {});
  /// The same without waiting: returns empty also if a run is in progress.
  [[nodiscard]] std::optional<Run> try_begin();
  /// The same, but waits for a run in progress for at most `duration`. A negative duration throws
  /// Errc::invalid_argument.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Run> try_begin_for(const std::chrono::duration<Rep, Period>& duration,
                                                 std::stop_token stop = {}) {
    Attempt attempt = attempt_for(duration, std::move(stop));
    if (attempt.outcome != Attempt::Outcome::begun) return std::nullopt;
    return std::move(attempt.run);
  }
  /// The same, but also says why there is no run. (A call of due() afterwards could not say it, because the period may
  /// end in between.)
  template <class Rep, class Period>
  Attempt attempt_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return attempt_within(detail::saturated(duration), std::move(stop));
  }
  void async_begin(AsyncCallback<std::optional<Run>> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::optional<Run>> CompletionToken>
  auto async_begin(CompletionToken&& token) {
    return detail::AsioFor<CompletionToken, std::optional<Run>>::initiate(
        std::forward<CompletionToken>(token), [this](AsyncCallback<std::optional<Run>> callback, std::stop_token stop) {
          async_begin(std::move(callback), std::move(stop));
        });
  }

  /// Calls begin(), then `job`, and then succeed() unless `job` throws. Returns whether this call did the job.
  bool run(MoveOnlyFunction<void(const Hold& hold)> job, std::stop_token stop = {});

  /// Whether a run would begin now, provided that none is in progress.
  bool due();
  /// The last successful run that the store remembers.
  std::optional<LastRun> last_run();

  const LockName& name() const noexcept;

 private:
  Attempt attempt_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::OnceState> state_;
};

}  // namespace holdfast
