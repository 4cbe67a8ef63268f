#pragma once

#include <coroutine>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/callback.hpp"

namespace holdfast::base {

/// Work that takes several steps, with waiting in between: a coroutine that ends with a Result. It begins when it is
/// awaited by another or start()ed, and goes on wherever what it waits for is answered.
///
/// (Each `co_await` stands in a statement of its own: GCC 12 mistreats temporaries around it.)
template <class Result>
class [[nodiscard]] Coroutine {
 public:
  using Done = Callback<void(Result)>;

  struct promise_type {  // NOLINT(readability-identifier-naming): the standard's name
    struct End {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
        promise_type& promise = ended.promise();
        if (promise.awaiting) return promise.awaiting;
        Done told = std::move(promise.done);
        Result outcome = std::move(*promise.result);
        ended.destroy();
        if (told) told(std::move(outcome));
        return std::noop_coroutine();
      }
      void await_resume() const noexcept {}
    };

    Coroutine get_return_object() { return Coroutine(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    End final_suspend() const noexcept { return {}; }
    void return_value(Result its_result) { result.emplace(std::move(its_result)); }
    void unhandled_exception() const noexcept { std::abort(); }

    std::optional<Result> result;
    std::coroutine_handle<> awaiting;
    Done done;
  };

  Coroutine(Coroutine&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Coroutine& operator=(Coroutine&&) = delete;
  ~Coroutine() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Begins it; `done` hears its result, perhaps at once.
  void start(Done done) && {
    const auto begun = std::exchange(coroutine_, nullptr);
    begun.promise().done = std::move(done);
    begun.resume();
  }

  /// Begins it; nobody hears its result.
  void start() && { std::move(*this).start({}); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    coroutine_.promise().awaiting = awaiting;
    return coroutine_;
  }
  Result await_resume() { return std::move(*coroutine_.promise().result); }

 private:
  explicit Coroutine(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

/// `co_await AnswerOf<Result>(start)`: what is answered to the callback that `start` is given. REQUIRES: not inside
/// `start`.
template <class Result, class Start>
class AnswerOf {
 public:
  explicit AnswerOf(Start start) : start_(std::move(start)) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    start_(Callback<void(Result)>([this, waiting](Result answer) {
      answer_.emplace(std::move(answer));
      waiting.resume();
    }));
  }
  Result await_resume() { return std::move(*answer_); }

 private:
  Start start_;
  std::optional<Result> answer_;
};

}  // namespace holdfast::base
