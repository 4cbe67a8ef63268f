#pragma once

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <optional>
#include <stop_token>
#include <utility>

#include "core/operations/operation.hpp"
#include "core/runtime/perform.hpp"
#include "holdfast/mutex.hpp"

/// What taking several locks consists of: taking one, and pausing. Each can be awaited; the same coroutine then serves
/// callers that block and callers that do not.
namespace holdfast::core {

using std::chrono::nanoseconds;

/// Whether waiting blocks the calling thread, or goes on where the answer comes.
enum class Waiting { blocks, calls_back };

class Deadline {
 public:
  explicit Deadline(nanoseconds wait) : end_(base::saturating_add(base::BootClock::now(), wait)) {}
  nanoseconds left() const {
    if (end_ == base::Instant::max()) return nanoseconds::max();
    return std::max(end_ - base::BootClock::now(), nanoseconds::zero());
  }

 private:
  base::Instant end_;
};

/// `co_await Take{...}`: one lock, within a time.
class Take {
 public:
  Take(Mutex& mutex, nanoseconds wait, std::stop_token stop, Waiting waiting)
      : mutex_(mutex), wait_(wait), stop_(std::move(stop)), waiting_(waiting) {}

  bool await_ready() {
    if (waiting_ == Waiting::calls_back) return false;
    try {
      auto hold = wait_ == nanoseconds::max() ? mutex_.acquire(stop_) : mutex_.try_acquire_for(wait_, stop_);
      if (hold) {
        result_.emplace(*std::move(hold));
      } else {
        result_.emplace(spi::Failure{Errc::timed_out});
      }
    } catch (const Error& error) {
      result_.emplace(spi::Failure{error.errc(), error.what()});
    }
    return true;
  }

  bool await_suspend(std::coroutine_handle<> taking) {
    try {
      mutex_.async_try_acquire_for(
          wait_,
          [this, taking](std::error_code error, Hold hold) {
            if (error) {
              result_.emplace(spi::Failure{static_cast<Errc>(error.value())});
            } else {
              result_.emplace(std::move(hold));
            }
            taking.resume();
          },
          stop_);
      return true;
    } catch (const Error& error) {
      result_.emplace(spi::Failure{error.errc(), error.what()});
      return false;
    }
  }

  spi::Result<Hold> await_resume() { return std::move(*result_); }

 private:
  Mutex& mutex_;
  const nanoseconds wait_;
  const std::stop_token stop_;
  const Waiting waiting_;
  std::optional<spi::Result<Hold>> result_;
};

inline Operation<spi::Nothing> nap(Caller& caller, nanoseconds length) {
  co_await caller.nap_for(length);
  if (caller.interrupted()) co_return *caller.interrupted();
  co_return spi::Nothing{};
}

/// `co_await Pause{...}`.
class Pause {
 public:
  Pause(ClientCore& core, nanoseconds length, std::stop_token stop, Waiting waiting)
      : core_(core), length_(length), stop_(std::move(stop)), waiting_(waiting) {}

  bool await_ready() {
    if (waiting_ == Waiting::calls_back) return false;
    result_.emplace(
        core_.perform<spi::Nothing>(nanoseconds::max(), stop_, [&](Caller& caller) { return nap(caller, length_); }));
    return true;
  }
  bool await_suspend(std::coroutine_handle<> taking) {
    try {
      core_.async_perform<spi::Nothing>(
          stop_, [&](Caller& caller) { return nap(caller, length_); },
          [this, taking](spi::Result<> result) {
            result_.emplace(std::move(result));
            taking.resume();
          });
      return true;
    } catch (const Error& error) {
      result_.emplace(spi::Failure{error.errc(), error.what()});
      return false;
    }
  }
  spi::Result<> await_resume() { return std::move(*result_); }

 private:
  ClientCore& core_;
  const nanoseconds length_;
  const std::stop_token stop_;
  const Waiting waiting_;
  std::optional<spi::Result<>> result_;
};

}  // namespace holdfast::core
