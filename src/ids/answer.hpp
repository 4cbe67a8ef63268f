#pragma once

#include <atomic>
#include <coroutine>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/callback.hpp"
#include "base/coroutine.hpp"
#include "holdfast/error.hpp"

namespace holdfast::ids {

struct Failure {
  Errc code = Errc::store_failed;
  std::string what = {};
};

/// What a request was answered, or why it was not.
template <class T>
class Answer {
 public:
  Answer(T value) : content_(std::move(value)) {}            // NOLINT(google-explicit-constructor): returned as it is
  Answer(Failure failure) : content_(std::move(failure)) {}  // NOLINT(google-explicit-constructor): the same

  bool ok() const noexcept { return std::holds_alternative<T>(content_); }
  T& value() { return std::get<T>(content_); }
  Failure& failure() { return std::get<Failure>(content_); }

 private:
  std::variant<T, Failure> content_;
};

template <class T>
using Done = base::Callback<void(Answer<T>)>;

/// Work that takes several requests. It keeps everything alive that it uses.
template <class T>
using Steps = base::Coroutine<Answer<T>>;

/// `co_await answer_of<T>(start)`: what is answered to the Done that `start` is given, whether inside `start` or later,
/// and on whichever thread. The coroutine never goes on before `start` has returned, so whatever `start` refers to
/// outlives it even if the coroutine then ends and was the last to keep it.
template <class T, class Start>
class AnswerOf {
 public:
  explicit AnswerOf(Start start) : start_(std::move(start)) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) {
    start_(Done<T>([this, waiting](Answer<T> answer) {
      answer_.emplace(std::move(answer));
      if (one_is_through_.exchange(true)) waiting.resume();
    }));
    return !one_is_through_.exchange(true);
  }
  Answer<T> await_resume() { return std::move(*answer_); }

 private:
  Start start_;
  std::optional<Answer<T>> answer_;
  std::atomic<bool> one_is_through_ = false;  ///< `start` or the answer; the second of them lets the coroutine go on
};

template <class T, class Start>
AnswerOf<T, Start> answer_of(Start start) {
  return AnswerOf<T, Start>(std::move(start));
}

}  // namespace holdfast::ids
