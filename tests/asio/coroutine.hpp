#pragma once

#include <cstddef>
#include <exception>
#include <utility>

#include "asio/net.hpp"
#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {

/// Starts a coroutine; what it throws, run() throws.
template <class Executor, class Body>
void spawn(const Executor& executor, Body body) {
  net::co_spawn(executor, std::move(body), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
}

/// Runs a coroutine to its end on this thread.
template <class Body>
void run(Body body) {
  net::io_context context;
  spawn(context.get_executor(), std::move(body));
  context.run();
}

/// A token that gives a future of the error alone. An exception in a future may be freed on another thread than the one
/// that looks at it, by libstdc++, where ThreadSanitizer cannot see that this is in order.
inline auto future_error() {
  return net::use_future([](NetError error, const Hold&) { return error; });
}

/// The code that awaiting something throws; success if it throws nothing.
template <class Result>
net::awaitable<NetError> code_of(net::awaitable<Result> call) {
  NetError code;
  try {
    static_cast<void>(co_await std::move(call));
  } catch (const NetException& thrown) {
    code = thrown.code();
  }
  co_return code;
}

inline bool becomes_free(Mutex& mutex) { return mutex.try_acquire_for(patience).has_value(); }

inline bool waiting_becomes(const Client& client, std::size_t count) {
  return eventually([&] { return client.health().waiting == count; });
}

}  // namespace holdfast::test
