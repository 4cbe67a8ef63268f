// What is passed to an asynchronous call and is no callback for it.
//
// 1: include <holdfast/asio.hpp>
// 2: cannot be called with a std::error_code and the call's results
// 3: include <holdfast/asio.hpp>

#include <holdfast/holdfast.hpp>
#include <system_error>

namespace {

/// Something like Asio's use_awaitable.
struct Token {};

/// A handler that is bound to an executor, as Asio has them.
struct Bound {
  using executor_type = int;
  void operator()(std::error_code, holdfast::Hold) {}
};

}  // namespace

void called_back(holdfast::Mutex& mutex, holdfast::Register& stock) {
  mutex.async_acquire([](std::error_code, const holdfast::Hold&) {});
  stock.async_get([](std::error_code, const holdfast::Versioned&) {});
#if MISTAKE == 1
  mutex.async_acquire(Token());
#elif MISTAKE == 2
  stock.async_get([](std::error_code, const holdfast::Hold&) {});
#elif MISTAKE == 3
  mutex.async_acquire(Bound());
#else
  static_cast<void>(Token());
  static_cast<void>(Bound());
#endif
}
