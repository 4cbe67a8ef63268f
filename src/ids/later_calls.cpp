#include "ids/later_calls.hpp"

#include <utility>

#include "base/signals_blocked.hpp"

namespace holdfast::ids {

void LaterCalls::close() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  look_again();
  if (thread_.joinable()) thread_.join();
}

void LaterCalls::add(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  Calls one;
  Call& call = one.emplace_back(std::move(callback), std::move(stop));
  // Outside of the mutex, because it may run at once.
  if (call.stop.stop_possible()) call.on_stop.emplace(call.stop, OnStop{this});
  {
    const std::scoped_lock lock(mutex_);
    if (!closing_) {
      if (!thread_.joinable()) {
        const base::SignalsBlocked blocked;
        thread_ = std::thread([this] { run(); });
      }
      calls_.splice(calls_.end(), one);
    }
  }
  if (!one.empty()) throw Error(Errc::closed, "the generator of ids is closed");
  added_.notify_one();
}

void LaterCalls::look_again() {
  const auto current = [this] {
    const std::scoped_lock lock(mutex_);
    return interruption_;
  };
  current().request_stop();  // without the lock, because whoever waits for it may take the lock
  added_.notify_one();
}

void LaterCalls::answer(Calls calls, std::error_code code, std::uint64_t id) {
  for (Call& call : calls) {
    call.on_stop.reset();
    call.callback(code, id);
  }
}

void LaterCalls::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [this] { return closing_ || !calls_.empty(); });
    Calls answered;
    if (closing_) {
      answered.swap(calls_);
      lock.unlock();
      return answer(std::move(answered), make_error_code(Errc::closed));
    }
    for (auto at = calls_.begin(); at != calls_.end();) {
      const auto call = at++;
      if (call->stop.stop_requested()) answered.splice(answered.end(), calls_, call);
    }
    if (!answered.empty()) {
      lock.unlock();
      answer(std::move(answered), make_error_code(Errc::cancelled));
      lock.lock();
      continue;
    }
    interruption_ = std::stop_source();
    const std::stop_token stop = interruption_.get_token();
    lock.unlock();
    std::error_code code;
    std::uint64_t id = 0;
    try {
      id = take_(stop);
    } catch (const Error& error) {
      code = error.code();
    }
    lock.lock();
    if (code == Errc::cancelled) continue;
    answered.splice(answered.end(), calls_, calls_.begin());
    lock.unlock();
    answer(std::move(answered), code, id);
    lock.lock();
  }
}

}  // namespace holdfast::ids
