#pragma once

/// Holdfast's asynchronous calls with Asio's completion tokens, such as use_awaitable, use_future, or a handler that is
/// bound to an executor: `Hold hold = co_await mutex.async_acquire(asio::use_awaitable);`. See
/// examples/10_coroutine.cpp.
///
/// This header is for standalone Asio. For Boost.Asio, define HOLDFAST_USE_BOOST_ASIO before you include it. A program
/// uses one of the two.
///
/// - The signature is `void(error_code, Results...)` with Asio's own error_code, which compares equal to the Errc that
///   it stands for: `error == Errc::closed`. The same holds for what use_awaitable and use_future throw: `thrown.code()
///   == Errc::closed`. Errors that a call without a token throws at once, such as Errc::closed, are delivered in the
///   same way.
/// - The handler is posted to its associated executor, with its associated allocator. If it has no executor, it is
///   posted to Asio's system_executor. It never runs on one of the client's threads, nor inside the call that started
///   it. Until it is posted the executor has outstanding work, so io_context::run() does not return.
/// - A handler's cancellation slot ends the wait, whatever the type of the cancellation. The call then ends with
///   Errc::cancelled, not with Asio's operation_aborted, or with its result if the cancellation came too late. Boost
///   1.74 has no slots, so nothing can be cancelled there.
/// - When an execution context is destroyed, the handlers that belong to it are destroyed and never called. Their waits
///   are called off, and a hold that was granted in the meantime is released. An executor that belongs to no
///   execution_context must outlive the call.
///
/// The mutex, or whatever was called, must live until the call has started; with a lazy token, such as use_awaitable,
/// that is when it is awaited. A plain callback, `void(std::error_code, Results...)`, needs none of this: see
/// async.hpp.

#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/error.hpp"

#ifdef HOLDFAST_USE_BOOST_ASIO

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/context_as.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/system/error_code.hpp>
#if __has_include(<boost/asio/associated_cancellation_slot.hpp>)
#include <boost/asio/associated_cancellation_slot.hpp>
#define HOLDFAST_ASIO_HAS_SLOTS
#endif

namespace holdfast {

namespace detail {

namespace net = boost::asio;
using AsioError = boost::system::error_code;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wnon-virtual-dtor"  // Boost's is not virtual, on purpose: it makes categories constexpr
class BoostCategory final : public boost::system::error_category {
 public:
  // An id, since each shared library of a program may have an object of its own.
  constexpr BoostCategory() : error_category(0x8f2d6c0b51e7a943) {}
  const char* name() const noexcept override { return holdfast::error_category().name(); }
  std::string message(int value) const override { return holdfast::error_category().message(value); }
};
#pragma GCC diagnostic pop

}  // namespace detail

/// The category of Errc values in a boost::system::error_code.
inline const boost::system::error_category& boost_error_category() noexcept {
  static constexpr detail::BoostCategory category;
  return category;
}

/// Converts a code to what Holdfast's other functions use. Codes of other libraries become what Boost makes of them.
inline std::error_code to_std(const boost::system::error_code& code) {
  if (!code) return {};
  if (code.category() == boost_error_category()) return make_error_code(static_cast<Errc>(code.value()));
  if (code.category() == boost::system::system_category()) return {code.value(), std::system_category()};
  return code;
}

inline bool operator==(const boost::system::error_code& code, Errc errc) {
  return code.category() == boost_error_category() && code.value() == static_cast<int>(errc);
}
inline bool operator==(const boost::system::error_code& code, Condition condition) { return to_std(code) == condition; }

namespace detail {

inline AsioError to_asio(std::error_code code) {
  if (!code) return {};
  if (code.category() == holdfast::error_category()) return {code.value(), boost_error_category()};
  if (code.category() == std::system_category()) return {code.value(), boost::system::system_category()};
  const std::error_condition condition = code.default_error_condition();
  if (condition.category() == std::generic_category()) return {condition.value(), boost::system::generic_category()};
  return {static_cast<int>(Errc::store_failed), boost_error_category()};
}

}  // namespace detail
}  // namespace holdfast

#else

#include <asio/associated_allocator.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/error_code.hpp>
#include <asio/execution/context_as.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#if __has_include(<asio/associated_cancellation_slot.hpp>)
#include <asio/associated_cancellation_slot.hpp>
#define HOLDFAST_ASIO_HAS_SLOTS
#endif

namespace holdfast::detail {

namespace net = asio;
using AsioError = asio::error_code;
inline AsioError to_asio(std::error_code code) { return code; }

}  // namespace holdfast::detail

#endif

namespace holdfast::detail {

/// A call that has started and whose handler has not been posted yet. Destroying it destroys the handler.
struct AsioCall {
  virtual ~AsioCall() = default;
  std::stop_source stop = {};
};

template <class Handler>
struct AsioCallOf final : AsioCall {
  explicit AsioCallOf(Handler its_handler)
      : handler(std::move(its_handler)), work(net::get_associated_executor(handler)) {}
  Handler handler;
  net::executor_work_guard<net::associated_executor_t<Handler>> work;
};

/// The pending calls whose handlers belong to one execution context. The client's threads and the thread that destroys
/// the context meet here: each call is taken out by exactly one of them, and whatever a client's thread does with the
/// context's executor is complete before the context is gone. Thread-safe. Outlives the context.
class AsioCalls {
 public:
  using Id = std::uint64_t;

  Id add(std::unique_ptr<AsioCall> call) {
    const std::scoped_lock lock(mutex_);
    const Id id = ++last_id_;
    if (!closed_) calls_.emplace(id, std::move(call));
    return id;
  }

  /// Lets `complete` post the call's handler, unless that was done before or the context is gone. No lock is held
  /// meanwhile, because an executor may destroy a handler that it is given, and the handler may own anything.
  template <class Complete>
  void finish(Id id, Complete complete) noexcept {
    std::unique_ptr<AsioCall> call;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = calls_.find(id);
      if (found == calls_.end()) return;
      call = std::move(found->second);
      calls_.erase(found);
      ++finishing_;
    }
    complete(*call);
    call.reset();
    const std::scoped_lock lock(mutex_);
    if (--finishing_ == 0) nobody_finishes_.notify_all();
  }

  void close() {
    std::map<Id, std::unique_ptr<AsioCall>> left;
    {
      std::unique_lock lock(mutex_);
      closed_ = true;
      left.swap(calls_);
      nobody_finishes_.wait(lock, [this] { return finishing_ == 0; });
    }
    for (const auto& [id, call] : left) call->stop.request_stop();
  }

 private:
  std::mutex mutex_;
  std::condition_variable nobody_finishes_;
  std::map<Id, std::unique_ptr<AsioCall>> calls_;
  Id last_id_ = 0;
  int finishing_ = 0;
  bool closed_ = false;
};

/// Tells when its execution context is being destroyed, at a time when its executors still work.
class AsioService final : public net::execution_context::service {
 public:
  using key_type = AsioService;
  static inline net::execution_context::id id;

  explicit AsioService(net::execution_context& context) : service(context) {}
  const std::shared_ptr<AsioCalls>& calls() const { return calls_; }

 private:
  void shutdown() override { calls_->close(); }

  const std::shared_ptr<AsioCalls> calls_ = std::make_shared<AsioCalls>();
};

template <class Executor>
std::shared_ptr<AsioCalls> asio_calls_of(const Executor& executor) {
  using ContextAs = net::execution::context_as_t<net::execution_context&>;
  if constexpr (net::can_query<const Executor&, ContextAs>::value) {
    return net::use_service<AsioService>(net::query(executor, ContextAs())).calls();
  } else if constexpr (requires {
                         { executor.context() } -> std::convertible_to<net::execution_context&>;
                       }) {
    return net::use_service<AsioService>(static_cast<net::execution_context&>(executor.context())).calls();
  } else {
    return std::make_shared<AsioCalls>();
  }
}

/// What is posted: a handler with its arguments. Its executor and its allocator are those of the handler.
template <class Handler, class... Results>
struct AsioCompletion {
  using executor_type = net::associated_executor_t<Handler>;
  using allocator_type = net::associated_allocator_t<Handler>;
  executor_type get_executor() const noexcept { return net::get_associated_executor(handler); }
  allocator_type get_allocator() const noexcept { return net::get_associated_allocator(handler); }

  void operator()() {
    std::apply([this](auto&... values) { std::move(handler)(std::move(values)...); }, arguments);
  }

  Handler handler;
  std::tuple<AsioError, Results...> arguments;
};

// The slot is not cleared when the call ends, as with Asio's own sockets: its signal may be gone by then, and stopping
// a call that has ended does nothing.
template <class Handler>
void connect_slot([[maybe_unused]] const Handler& handler, [[maybe_unused]] const std::stop_source& stop) {
#ifdef HOLDFAST_ASIO_HAS_SLOTS
  auto slot = net::get_associated_cancellation_slot(handler);
  if (slot.is_connected()) slot.assign([stop](auto) mutable { stop.request_stop(); });
#endif
}

template <class... Results>
struct Asio {
  /// `start(callback, stop_token)` starts the call.
  template <class Token, class Start>
  static auto initiate(Token&& token, Start start) {
    return net::async_initiate<Token, void(AsioError, Results...)>(Begin(), token, std::move(start));
  }

 private:
  struct Begin {
    template <class Handler, class Start>
    void operator()(Handler&& handler, Start start) const {
      begin(std::decay_t<Handler>(std::forward<Handler>(handler)), std::move(start));
    }
  };

  template <class Handler, class Start>
  static void begin(Handler handler, Start start) {
    auto call = std::make_unique<AsioCallOf<Handler>>(std::move(handler));
    connect_slot(call->handler, call->stop);
    const std::stop_token stop = call->stop.get_token();
    const auto calls = asio_calls_of(call->work.get_executor());
    const AsioCalls::Id id = calls->add(std::move(call));

    const auto callback = [calls, id](std::error_code error, Results... results) {
      calls->finish(id, [&](AsioCall& finished) {
        Handler& its_handler = static_cast<AsioCallOf<Handler>&>(finished).handler;
        net::post(AsioCompletion<Handler, Results...>{std::move(its_handler), {to_asio(error), std::move(results)...}});
      });
    };
    try {
      start(AsyncCallback<Results...>(callback), stop);
    } catch (const std::system_error& error) {
      callback(error.code(), Results()...);
    } catch (...) {
      calls->finish(id, [](AsioCall&) {});
      throw;
    }
  }
};

}  // namespace holdfast::detail

#undef HOLDFAST_ASIO_HAS_SLOTS
