#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/instant.hpp"
#include "holdfast/async.hpp"
#include "ids/answer.hpp"

/// The ways to call what takes requests to a store: one attempt, attempts until a deadline, and calling back. `make`
/// begins an attempt: it returns Steps<T>. What a call no longer waits for goes on without it, and its result is dropped:
/// numbers are burnt, never issued twice.
namespace holdfast::ids {

/// An id that may have been taken is of no use to anybody, so a caller need not find out what happened.
inline Failure for_callers(Failure failure) {
  if (failure.code == Errc::in_doubt) {
    failure.code = Errc::unreachable;
    failure.what += "; ids that it may have given are left out";
  }
  return failure;
}

inline bool is_worth_repeating(Errc code) noexcept {
  return code == Errc::unreachable || code == Errc::in_doubt || code == Errc::exhausted;
}

inline Failure cancelled() { return {Errc::cancelled, "taking ids was cancelled by the caller's stop_token"}; }

/// What one thread waits for and another one brings.
template <class T>
class Awaited {
 public:
  void answer(Answer<T> answer) {
    {
      const std::scoped_lock lock(mutex_);
      answer_.emplace(std::move(answer));
    }
    answered_.notify_all();
  }
  /// Empty at the deadline; Errc::cancelled after a stop.
  std::optional<Answer<T>> wait(base::Instant deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto is_answered = [this] { return answer_.has_value(); };
    const bool forever = deadline == base::Instant::max();
    const bool answered =
        forever ? answered_.wait(lock, stop, is_answered) : answered_.wait_until(lock, stop, deadline, is_answered);
    if (answered) return std::move(answer_);
    if (stop.stop_requested()) return cancelled();
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any answered_;
  std::optional<Answer<T>> answer_;
};

template <class T>
std::optional<Answer<T>> awaited(Steps<T> steps, base::Instant deadline, const std::stop_token& stop) {
  if (stop.stop_requested()) return cancelled();
  const auto awaited = std::make_shared<Awaited<T>>();
  std::move(steps).start([awaited](Answer<T> answer) { awaited->answer(std::move(answer)); });
  return awaited->wait(deadline, stop);
}

template <class T>
T value_or_throw(Answer<T> answer) {
  if (answer.ok()) return std::move(answer.value());
  const Failure failure = for_callers(std::move(answer.failure()));
  throw Error(failure.code, failure.what);
}

/// One attempt; throws the reason if it fails.
template <class T, class Make>
T taken(Make make, const std::stop_token& stop) {
  return value_or_throw<T>(*awaited<T>(make(), base::Instant::max(), stop));
}

/// Attempts until one succeeds, with pauses that grow. Empty at the deadline; throws what no repetition can mend.
template <class T, class Make>
std::optional<T> taken_until(base::Instant deadline, Make make, const std::stop_token& stop) {
  base::Duration pause = std::chrono::milliseconds(10);
  for (;;) {
    std::optional<Answer<T>> answer = awaited<T>(make(), deadline, stop);
    if (!answer) return std::nullopt;
    if (answer->ok() || !is_worth_repeating(answer->failure().code)) return value_or_throw<T>(std::move(*answer));
    Awaited<T> nothing;
    const base::Instant pause_ends = base::saturating_add(base::BootClock::now(), pause);
    if (pause_ends >= deadline) return std::nullopt;
    if (auto stopped = nothing.wait(pause_ends, stop)) return value_or_throw<T>(std::move(*stopped));
    pause = std::min<base::Duration>(pause * 2, std::chrono::seconds(1));
  }
}

/// A callback that is called once, by whoever is first: the answer, or the caller's stop_token.
template <class T>
class CalledOnce : public std::enable_shared_from_this<CalledOnce<T>> {
 public:
  explicit CalledOnce(AsyncCallback<T> callback) : callback_(std::move(callback)) {}

  /// At most once, and before the answer.
  void obey(std::stop_token stop) {
    if (stop.stop_possible()) on_stop_.emplace(std::move(stop), OnStop{this->shared_from_this()});
  }
  void answer(Answer<T> answer) {
    if (is_called_.exchange(true)) return;
    on_stop_.reset();
    if (answer.ok()) return callback_({}, std::move(answer.value()));
    callback_(for_callers(std::move(answer.failure())).code, T{});
  }
  bool is_called() const noexcept { return is_called_; }

 private:
  struct OnStop {
    std::weak_ptr<CalledOnce> self;
    void operator()() const {
      const auto called = self.lock();
      if (called && !called->is_called_.exchange(true)) called->callback_(make_error_code(Errc::cancelled), T{});
    }
  };

  AsyncCallback<T> callback_;
  std::atomic<bool> is_called_ = false;
  std::optional<std::stop_callback<OnStop>> on_stop_ = {};
};

/// One attempt that calls back.
template <class T, class Make>
void taken_later(Make make, AsyncCallback<T> callback, std::stop_token stop) {
  const auto called = std::make_shared<CalledOnce<T>>(std::move(callback));
  called->obey(std::move(stop));
  if (called->is_called()) return;
  make().start([called](Answer<T> answer) { called->answer(std::move(answer)); });
}

}  // namespace holdfast::ids
