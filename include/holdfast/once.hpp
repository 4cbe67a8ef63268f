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

/// How a job runs once per period. An aggregate: name the members you change.
struct OnceOptions {
  /// Nobody begins again within this time after a run began, even if that run failed or crashed.
  std::chrono::milliseconds at_least = std::chrono::milliseconds::zero();
  /// A run that takes longer loses the lock (LockOptions::max_hold), and another may begin although it still works:
  /// only the token can tell the two apart. Zero: no limit.
  std::chrono::milliseconds at_most = std::chrono::milliseconds::zero();
  /// The lease of the lock, and what is shown to whoever lists it. max_hold is at_most.
  LockOptions lock = {};
};

/// A successful run, as the store remembers it.
struct LastRun {
  std::chrono::system_clock::time_point started = {};
  std::chrono::system_clock::time_point ended = {};
  std::int32_t result = 0;  ///< as told to Run::succeed()
  Token token = {};
  std::string host = {};
};

/// A run that is under way. If it is destroyed without succeed(), it has failed, and anybody may try again.
/// Not thread-safe, except for what hold() offers.
class [[nodiscard]] HOLDFAST_EXPORT Run {
 public:
  Run() noexcept;
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  explicit operator bool() const noexcept;
  /// The lock: its token, and when it is lost.
  const Hold& hold() const;
  std::chrono::system_clock::time_point started() const;

  /// Remembers, durably and before the lock is given back, that the job was done: nobody begins again before the period
  /// is over. Throws Errc::lost if the lock was lost before that could be written, or another run has written since;
  /// Errc::in_doubt or Errc::unreachable if it is not certain to have been written. The lock is given back in any case.
  void succeed(std::int32_t result = 0);
  void async_succeed(std::int32_t result, AsyncCallback<> callback);
  template <detail::CompletionToken<> CompletionToken>
  auto async_succeed(std::int32_t result, CompletionToken&& token) {
    return detail::AsioFor<CompletionToken>::initiate(std::forward<CompletionToken>(token),
                                                      [this, result](AsyncCallback<> callback, const std::stop_token&) {
                                                        async_succeed(result, std::move(callback));
                                                      });
  }
  /// Remembers the same, but keeps the lock until *this ends. Throws likewise; may be called again.
  void record_success(std::int32_t result = 0);
  /// Gives the lock back: somebody else may try. What the destructor does.
  void fail() noexcept;
  /// The same, and waits for the store's answer, as Hold::release() does.
  Released release();

 private:
  friend class core::OnceState;
  struct State;
  explicit Run(std::unique_ptr<State> state) noexcept;
  void remember(std::int32_t result) const;

  std::unique_ptr<State> state_;
};

/// What became of an attempt to begin a run.
struct [[nodiscard]] Attempt {
  enum class Outcome {
    begun,  ///< `run` is under way
    done,   ///< there is nothing to do: a run was successful in this period
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
/// A run is skipped if a *successful* one began less than the period minus a slack ago; the slack is the smaller of a
/// tenth of the period and one minute, so that hosts whose timers fire a few seconds apart run it once, and the next
/// period still runs. Time is the store's where it has a clock (StoreTraits::has_clock), else this host's; the
/// remembered start never goes back. Periods that were missed are not made up for.
///
/// The lock of that name is held meanwhile: a Mutex of the same name excludes it. Thread-safe; errors and stop_tokens
/// as with Mutex.
class HOLDFAST_EXPORT Once {
 public:
  /// Contacts nobody. Throws Errc::invalid_argument for a bad name, bad options, or a period that is not positive.
  Once(Client& client, const LockName& name, std::chrono::milliseconds period, OnceOptions options = {});
  ~Once();
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  /// Begins a run unless one was successful in this period; waits for a run that is under way, because it may fail.
  /// Empty if there is nothing to do.
  [[nodiscard]] std::optional<Run> begin(std::stop_token stop = {});
  /// The same without waiting: empty also if a run is under way.
  [[nodiscard]] std::optional<Run> try_begin();
  /// The same, but waits at most so long for a run that is under way; a negative duration throws
  /// Errc::invalid_argument.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Run> try_begin_for(const std::chrono::duration<Rep, Period>& duration,
                                                 std::stop_token stop = {}) {
    Attempt attempt = attempt_for(duration, std::move(stop));
    if (attempt.outcome != Attempt::Outcome::begun) return std::nullopt;
    return std::move(attempt.run);
  }
  /// The same, and says why there is no run. (Asking due() afterwards would not: the period may end in between.)
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

  /// begin(), `job`, and succeed() unless `job` throws. True if this call did the job.
  bool run(MoveOnlyFunction<void(const Hold& hold)> job, std::stop_token stop = {});

  /// Whether a run would begin now, if none is under way.
  bool due();
  /// The last successful run that is remembered.
  std::optional<LastRun> last_run();

  const LockName& name() const noexcept;

 private:
  Attempt attempt_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::OnceState> state_;
};

}  // namespace holdfast
