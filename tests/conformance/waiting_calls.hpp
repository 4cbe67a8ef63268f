#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>

#include "holdfast/holdfast.hpp"
#include "support/recorder.hpp"

namespace holdfast::conformance {

/// A call that waits, as long as it takes, until the lock is granted, and then gives it back.
struct WaitingCall {
  const char* name;
  void (*call)(Mutex& mutex, std::stop_token stop);
};

namespace detail {

/// async_acquire() as if it were synchronous: throws what the callback is given.
inline void acquire_by_callback(Mutex& mutex, std::stop_token stop) {
  const auto outcomes = std::make_shared<test::Recorder<std::error_code>>();
  mutex.async_acquire([outcomes](std::error_code code, Hold) { outcomes->add(code); }, std::move(stop));
  if (!outcomes->reaches(1)) throw std::runtime_error("async_acquire() does not call back");
  const std::error_code code = outcomes->all().front();
  if (code) throw Error(static_cast<Errc>(code.value()), "async_acquire() called back with this");
}

inline void unlock_if(Mutex& mutex, bool locked) {
  if (!locked) throw std::runtime_error("a wait without end has ended");
  mutex.unlock();
}

inline void release_if(std::optional<Hold> hold) {
  if (!hold) throw std::runtime_error("a wait without end has ended");
}

}  // namespace detail

/// Every way to wait there is; those with a deadline, with one that never comes.
inline constexpr std::array waiting_calls = {
    WaitingCall{"lock",
                [](Mutex& mutex, std::stop_token stop) {
                  mutex.lock(std::move(stop));
                  mutex.unlock();
                }},
    WaitingCall{"try_lock_for",
                [](Mutex& mutex, std::stop_token stop) {
                  detail::unlock_if(mutex, mutex.try_lock_for(std::chrono::hours::max(), std::move(stop)));
                }},
    WaitingCall{"try_lock_until",
                [](Mutex& mutex, std::stop_token stop) {
                  constexpr auto never = std::chrono::steady_clock::time_point::max();
                  detail::unlock_if(mutex, mutex.try_lock_until(never, std::move(stop)));
                }},
    WaitingCall{"acquire",
                [](Mutex& mutex, std::stop_token stop) { static_cast<void>(mutex.acquire(std::move(stop))); }},
    WaitingCall{"try_acquire_for",
                [](Mutex& mutex, std::stop_token stop) {
                  detail::release_if(mutex.try_acquire_for(std::chrono::nanoseconds::max(), std::move(stop)));
                }},
    WaitingCall{"try_acquire_until",
                [](Mutex& mutex, std::stop_token stop) {
                  constexpr auto never = std::chrono::system_clock::time_point::max();
                  detail::release_if(mutex.try_acquire_until(never, std::move(stop)));
                }},
    WaitingCall{"async_acquire", detail::acquire_by_callback},
};

}  // namespace holdfast::conformance
