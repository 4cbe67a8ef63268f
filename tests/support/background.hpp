#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {

/// A call on a thread of its own. It is given a stop_token that is triggered by cancel() and by the destructor, which
/// then joins: a test that fails half-way does not hang.
///
///     Background waiter([&](std::stop_token stop) { return mutex.acquire(stop); });
///     EXPECT_TRUE(waiter.finishes());
template <class Result>
class Background {
 public:
  using Value = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;

  template <class Call>
  explicit Background(Call call)
      : thread_([this, call = std::move(call)](std::stop_token stop) mutable { run(call, std::move(stop)); }) {}

  void cancel() { thread_.request_stop(); }

  bool finished() const {
    const std::scoped_lock lock(mutex_);
    return finished_;
  }
  bool finishes(std::chrono::milliseconds bound = patience) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, [this] { return finished_; });
  }

  /// What the Error that it ended with stands for, if it did. Waits; throws when it does not end.
  std::optional<Errc> error() const {
    if (!finishes()) throw std::runtime_error("the background call does not end");
    const std::scoped_lock lock(mutex_);
    if (!error_) return std::nullopt;
    return error_->errc();
  }
  /// What it returned. Waits; throws when it does not end, or ended with an error.
  Value take() {
    if (error()) throw Error(*error_);
    return std::move(*value_);
  }

 private:
  template <class Call>
  void run(Call& call, std::stop_token stop) {
    std::optional<Value> value;
    std::optional<Error> error;
    try {
      if constexpr (std::is_void_v<Result>) {
        call(std::move(stop));
        value.emplace();
      } else {
        value.emplace(call(std::move(stop)));
      }
    } catch (const Error& thrown) {
      error = thrown;
    }
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
    error_ = std::move(error);
    finished_ = true;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool finished_ = false;
  std::optional<Value> value_;
  std::optional<Error> error_;
  std::jthread thread_;  // the last: it uses all of the above
};

template <class Call>
Background(Call) -> Background<std::invoke_result_t<Call&, std::stop_token>>;

}  // namespace holdfast::test
