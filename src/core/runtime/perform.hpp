#pragma once

#include <optional>
#include <utility>

#include "core/operations/store_requests.hpp"
#include "core/runtime/client_core.hpp"

/// How ClientCore runs operations: blocking the calling thread, or calling back.
namespace holdfast::core {

inline spi::Failure cancelled_by_user() { return {Errc::cancelled, "cancelled by the caller's stop_token"}; }

template <class T, class Make>
spi::Result<T> ClientCore::perform(base::Duration wait, const std::stop_token& stop, Make make) {
  check_not_forked();
  if (stop.stop_requested()) return cancelled_by_user();
  const auto deadline =
      wait == base::Duration::max() ? base::Instant::max() : base::saturating_add(base::BootClock::now(), wait);
  Monitor::Waiter waiter;
  std::optional<spi::Result<T>> result;
  // Under the monitor.
  std::optional<Caller> caller;
  std::optional<spi::Expectation> expectation;
  bool stopped = false;

  auto on_stop = [&] {
    const Monitor::Section section(monitor_);
    stopped = true;
    if (caller) caller->interrupt(cancelled_by_user());
  };
  // Outside the monitor: its construction may run on_stop at once, its destruction may wait for it.
  std::optional<std::stop_callback<decltype(on_stop)>> stop_callback;
  if (stop.stop_possible()) stop_callback.emplace(stop, on_stop);
  {
    Monitor::Section section(monitor_);
    if (engine_.closing()) return spi::Failure{Errc::closed, "the client is closed"};
    if (stopped) return cancelled_by_user();
    caller.emplace(engine_, deadline);
    expectation.emplace(monitor_, spi::Expectation::Of::user);
    make(*caller).start([&](spi::Result<T> its_result) {
      result = std::move(its_result);
      expectation.reset();
      caller.reset();
      monitor_.complete(waiter);
    });
    section.wait(waiter);
  }
  return std::move(*result);
}

/// Owns itself until it was heard.
template <class T, class Heard>
struct ClientCore::AsyncOperation {
  struct OnStop {
    AsyncOperation* self;
    void operator()() const {
      const Monitor::Section section(self->core->monitor_);
      self->stopped = true;
      if (self->caller) self->caller->interrupt(cancelled_by_user());
    }
  };

  /// Under the monitor. The rest is the user's side: their callback, and a stop_callback that may have to be awaited.
  void ended(spi::Result<T> result) {
    expectation.reset();
    caller.reset();
    core->run([self = std::move(itself), result = std::move(result)]() mutable {
      self->stop_callback.reset();
      self->heard(std::move(result));
    });
  }

  std::shared_ptr<ClientCore> core;
  Heard heard;
  std::unique_ptr<AsyncOperation> itself = {};
  // Under the monitor.
  std::optional<Caller> caller = {};
  std::optional<spi::Expectation> expectation = {};
  bool stopped = false;

  std::optional<std::stop_callback<OnStop>> stop_callback = {};
};

template <class T, class Make, class Heard>
void ClientCore::async_perform(std::stop_token stop, Make make, Heard heard) {
  check_open();
  using Begun = AsyncOperation<T, Heard>;
  std::unique_ptr<Begun> made(new Begun{shared_from_this(), std::move(heard)});
  Begun& begun = *made;
  if (stop.stop_possible()) begun.stop_callback.emplace(std::move(stop), typename Begun::OnStop{&begun});
  const Monitor::Section section(monitor_);
  if (engine_.closing()) throw Error(Errc::closed, "the client is closed");
  begun.itself = std::move(made);
  begun.caller.emplace(engine_, base::Instant::max());
  begun.expectation.emplace(monitor_, spi::Expectation::Of::user);
  if (begun.stopped) return begun.ended(cancelled_by_user());
  make(*begun.caller).start([&begun](spi::Result<T> result) { begun.ended(std::move(result)); });
}

/// The value, or an exception that says what was tried.
template <class T>
T value_or_throw(spi::Result<T> result, const std::string& what) {
  if (!result.ok()) {
    const spi::Failure& failure = result.failure();
    const std::string why = failure.detail.empty() ? make_error_code(failure.code).message() : failure.detail;
    throw Error(failure.code, what + ": " + why);
  }
  return std::move(result.value());
}

/// The same, and empty if there was no time left, or somebody else was faster.
template <class T>
std::optional<T> value_or_empty(spi::Result<T> result, const std::string& what) {
  const bool empty = !result.ok() && (result.failure().code == Errc::timed_out || result.failure().code == Errc::busy);
  if (empty) return std::nullopt;
  return value_or_throw(std::move(result), what);
}

/// Makes a callback of the user's hear a Result.
template <class T>
auto heard_by(AsyncCallback<T> callback) {
  return [callback = std::move(callback)](spi::Result<T> result) mutable {
    if (result.ok()) {
      callback({}, std::move(result.value()));
    } else {
      callback(result.failure().code, T{});
    }
  };
}

inline auto heard_by(AsyncCallback<> callback) {
  return [callback = std::move(callback)](const spi::Result<>& result) mutable {
    callback(result.ok() ? std::error_code() : make_error_code(result.failure().code));
  };
}

}  // namespace holdfast::core
