#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "spi/result.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {

/// One request to a backend, and its answer when it has come. It complains if the answer comes inside the call that
/// made the request, or twice. Thread-safe.
template <class T>
class Call {
 public:
  /// `arguments`: what the request refers to, kept until it is answered.
  explicit Call(std::shared_ptr<const void> arguments) : arguments_(std::move(arguments)) {}

  /// The function that was given the Done has returned.
  void returned() {
    const std::scoped_lock lock(mutex_);
    returned_ = true;
  }

  void answer(spi::Result<T> result) {
    const std::scoped_lock lock(mutex_);
    EXPECT_TRUE(returned_) << "answered inside the call";
    EXPECT_FALSE(result_) << "answered twice";
    result_.emplace(std::move(result));
    arguments_.reset();
    changed_.notify_all();
  }

  bool answered() const {
    const std::scoped_lock lock(mutex_);
    return result_.has_value();
  }

  /// Waits, in bounded time.
  spi::Result<T> result() const {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, test::patience, [this] { return result_.has_value(); })) return *result_;
    ADD_FAILURE() << "not answered";
    return spi::Failure{Errc::timed_out, "the request was not answered"};
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const void> arguments_;
  bool returned_ = false;
  std::optional<spi::Result<T>> result_;
};

template <class T = spi::Nothing>
using Pending = std::shared_ptr<const Call<T>>;

/// What the failure stands for; empty if there is none.
template <class T>
std::optional<Errc> errc_of(const spi::Result<T>& result) {
  if (result.ok()) return std::nullopt;
  return result.failure().code;
}

}  // namespace holdfast::spi_suite
