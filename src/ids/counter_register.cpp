#include "ids/counter_register.hpp"

#include <memory>
#include <system_error>
#include <utility>

namespace holdfast::ids {
namespace {

CounterClock::Time time_of(const std::optional<StoreTime>& answer) {
  if (!answer) return std::nullopt;
  return answer->time;
}

Failure failure_of(std::error_code error) { return {static_cast<Errc>(error.value()), error.message()}; }

Failure failure_of(const Error& error) { return {error.errc(), error.what()}; }

/// Calls `begin` with a callback of the public API, which tells `done`. A call that is refused at once, because the
/// client is closed or belongs to the parent process, is answered as well.
template <class T, class Begin>
void ask(Done<T> done, Begin begin) {
  const auto shared = std::make_shared<Done<T>>(std::move(done));
  try {
    begin([shared](std::error_code error, T result) {
      (*shared)(error ? Answer<T>(failure_of(error)) : Answer<T>(std::move(result)));
    });
  } catch (const Error& error) {
    (*shared)(failure_of(error));
  }
}

template <class T, class Call>
Answer<T> answer_to(Call call) {
  try {
    return call();
  } catch (const Error& error) {
    return failure_of(error);
  }
}

}  // namespace

void AsyncRegister::get(Done<Versioned> done) {
  ask<Versioned>(std::move(done), [&](auto callback) { register_.async_get(std::move(callback)); });
}

void AsyncRegister::add(std::int64_t amount, Done<std::int64_t> done) {
  ask<std::int64_t>(std::move(done), [&](auto callback) { register_.async_add(amount, std::move(callback)); });
}

void AsyncRegister::compare_and_set(std::uint64_t expected, std::string value, Done<Written> done) {
  ask<Written>(std::move(done), [&](auto callback) {
    register_.async_compare_and_set(expected, std::move(value), std::move(callback));
  });
}

void BlockingRegister::get(Done<Versioned> done) {
  done(answer_to<Versioned>([&] { return register_.get(); }));
}

void BlockingRegister::add(std::int64_t amount, Done<std::int64_t> done) {
  done(answer_to<std::int64_t>([&] { return register_.add(amount); }));
}

void BlockingRegister::compare_and_set(std::uint64_t expected, std::string value, Done<Written> done) {
  done(answer_to<Written>([&] { return register_.compare_and_set(expected, std::move(value)); }));
}

void AsyncClock::now(Done<Time> done) {
  ask<std::optional<StoreTime>>(
      [done = std::move(done)](Answer<std::optional<StoreTime>> answer) mutable {
        done(answer.ok() ? Answer<Time>(time_of(answer.value())) : Answer<Time>(std::move(answer.failure())));
      },
      [&](auto callback) { clock_.async_now(std::move(callback)); });
}

void BlockingClock::now(Done<Time> done) {
  done(answer_to<Time>([&] { return time_of(clock_.now()); }));
}

}  // namespace holdfast::ids
