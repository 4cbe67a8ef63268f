#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace holdfast::zookeeper {

/// Several requests, one after the other, written as one function. It runs until it awaits an answer, and goes on when
/// that has come; everything happens under the monitor, so nothing here is thread-safe.
///
/// A flow that starts is one that ends: every answer comes, at the latest when the session is closed. So nobody has to
/// keep it: `Detached` looks after itself.
struct Detached {
  // NOLINTBEGIN(readability-identifier-naming, readability-convert-member-functions-to-static): the language's
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  // NOLINTEND(readability-identifier-naming, readability-convert-member-functions-to-static)
};

/// The same as a part of another flow, which awaits its result. REQUIRES: it is awaited.
template <class T>
class [[nodiscard]] Flow {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names of the language
  struct promise_type {
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        const auto next = self.promise().continuation;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };

    Flow get_return_object() noexcept { return Flow(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_value(T value) { result = std::move(value); }
    void unhandled_exception() noexcept { std::terminate(); }

    std::optional<T> result;
    std::coroutine_handle<> continuation;
  };
  // NOLINTEND(readability-identifier-naming)

  Flow(Flow&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Flow& operator=(Flow&&) = delete;
  ~Flow() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return handle_.done(); }
  void await_suspend(std::coroutine_handle<> continuation) const noexcept {
    handle_.promise().continuation = continuation;
  }
  T await_resume() const { return *std::move(handle_.promise().result); }

 private:
  explicit Flow(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

}  // namespace holdfast::zookeeper
