#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include "base/coroutine.hpp"

namespace holdfast::base {

/// The answer to something that has begun already. It may come before or after a coroutine awaits it, so several things
/// can be under way at the same time:
///
///     Future<Reply> first = session.get("/a");
///     Future<Reply> second = session.get("/b");
///     const Reply& a = co_await first;
///     const Reply& b = co_await second;
///
/// Copies share the answer. One coroutine at a time may await it; nobody has to.
template <class Result>
class Future {
 public:
  /// REQUIRES: not answered yet. Whoever awaits it goes on inside this call.
  void answer(Result result) const {
    const std::shared_ptr<State> state = state_;  // whoever goes on may end whatever has this Future
    state->result.emplace(std::move(result));
    if (state->awaiting) std::exchange(state->awaiting, nullptr).resume();
  }
  bool is_answered() const noexcept { return state_->result.has_value(); }

  bool await_ready() const noexcept { return is_answered(); }
  void await_suspend(std::coroutine_handle<> awaiting) const noexcept { state_->awaiting = awaiting; }
  Result& await_resume() const noexcept { return *state_->result; }

 private:
  struct State {
    std::optional<Result> result;
    std::coroutine_handle<> awaiting;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Begins `work` at once; its result can be awaited later. REQUIRES: what it refers to outlives it, awaited or not.
template <class Result>
Future<Result> started(Coroutine<Result> work) {
  Future<Result> future;
  std::move(work).start([future](Result result) { future.answer(std::move(result)); });
  return future;
}

}  // namespace holdfast::base
