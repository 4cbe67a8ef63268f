#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/error.hpp"
#include "holdfast/move_only_function.hpp"

namespace holdfast::ids {

/// Calls that are answered by a callback. One thread answers them, in their order: waiting for an id is waiting for the
/// same thing for all of them.
class LaterCalls {
 public:
  /// Waits for an id; throws Error, Errc::cancelled if it was stopped.
  using Take = MoveOnlyFunction<std::uint64_t(const std::stop_token&)>;

  explicit LaterCalls(Take take) : take_(std::move(take)) {}
  /// REQUIRES: close() was called.
  ~LaterCalls() = default;
  LaterCalls(const LaterCalls&) = delete;
  LaterCalls& operator=(const LaterCalls&) = delete;

  /// Throws Errc::closed after close().
  void add(AsyncCallback<std::uint64_t> callback, std::stop_token stop);
  /// Answers what is left with Errc::closed, and returns when the last callback has. Not from inside a callback.
  void close();

 private:
  struct OnStop {
    LaterCalls* self;
    void operator()() const { self->look_again(); }
  };
  struct Call {
    AsyncCallback<std::uint64_t> callback;
    std::stop_token stop;
    std::optional<std::stop_callback<OnStop>> on_stop = {};
  };
  using Calls = std::list<Call>;

  void run();
  void look_again();
  /// Answers outside of the mutex: callbacks may call us, and a stop_callback may have to be awaited.
  static void answer(Calls calls, std::error_code code, std::uint64_t id = 0);

  Take take_;
  std::mutex mutex_;
  std::condition_variable added_;
  Calls calls_;
  std::stop_source interruption_;  ///< of the wait for an id
  bool closing_ = false;
  std::thread thread_;  ///< from the first call on
};

}  // namespace holdfast::ids
