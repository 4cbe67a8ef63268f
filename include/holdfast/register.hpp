#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/name.hpp"

namespace holdfast {

namespace core {
class ClientCore;
}

/// A value and its version. Version 0 means that it was never written; the value is then empty. Each write makes the
/// version larger, so a value that was changed and changed back can be told from one that was left alone.
struct Versioned {
  std::string value = {};
  std::uint64_t version = 0;
};

/// The outcome of a conditional write: whether it was written, and what the register contains now.
struct Written {
  bool written = false;
  Versioned now = {};
  explicit operator bool() const noexcept { return written; }
};

/// A small named value in the store, with a version for optimistic locking.
///
///     holdfast::Register stock(client, "stock/4711");
///     stock.update([](const std::string& value) { return std::to_string(std::stoi(value) - 1); });
///
/// A read sees every write that was acknowledged before it. A write is acknowledged only when it is durable, as far as
/// the store makes anything durable. A value may contain any bytes, up to StoreTraits::max_value_bytes of them. A
/// register and a lock of the same name are independent of each other.
///
/// Every call may throw Error. Errc::unreachable means that the store could not be reached and nothing was written.
/// Errc::in_doubt means that a write was sent and not answered; read the register to find out. A call never reports a
/// plain failure for a write that may have happened. Thread-safe. A Register may outlive its Client; every call then
/// answers Errc::closed.
class HOLDFAST_EXPORT Register {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name is invalid.
  Register(Client& client, const LockName& name);
  /// Another register of the same client, for those who do not have the client at hand. Does not contact the store.
  Register(const Register& beside, const LockName& name);
  ~Register();
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;

  Versioned get();
  /// Writes unconditionally. Returns the new version.
  std::uint64_t set(std::string value);
  /// Writes only if the version is still `expected` (0 means: if the register was never written).
  Written compare_and_set(std::uint64_t expected, std::string value);
  /// Adds to a decimal number and returns the sum. A register that was never written counts as 0. Throws
  /// Errc::invalid_argument if the value is not a number or the sum does not fit.
  std::int64_t add(std::int64_t amount);

  /// Reads the value, calls `change` with it and writes the result, and repeats this until nobody else has written in
  /// between. Returns what was written. `change` may be called several times, must have no side effects, and may throw
  /// to give up.
  Versioned update(MoveOnlyFunction<std::string(const std::string& value)> change, std::stop_token stop = {});

  /// Waits until the version differs from `seen`, and returns what the register then contains. Values that
  /// were replaced in between are missed, and how far the version has moved on does not tell how many. The wait survives
  /// outages of the store.
  Versioned wait_for_change(std::uint64_t seen, std::stop_token stop = {});
  /// The same with a time limit. Returns empty if nothing changed in time.
  template <class Rep, class Period>
  std::optional<Versioned> wait_for_change_for(std::uint64_t seen, const std::chrono::duration<Rep, Period>& duration,
                                               std::stop_token stop = {}) {
    return wait_for_change_within(seen, detail::saturated(duration), std::move(stop));
  }

  void async_get(AsyncCallback<Versioned> callback);
  void async_set(std::string value, AsyncCallback<std::uint64_t> callback);
  void async_compare_and_set(std::uint64_t expected, std::string value, AsyncCallback<Written> callback);
  void async_add(std::int64_t amount, AsyncCallback<std::int64_t> callback);
  void async_wait_for_change(std::uint64_t seen, AsyncCallback<Versioned> callback, std::stop_token stop = {});

  template <detail::CompletionToken<Versioned> Token>
  auto async_get(Token&& token) {
    return detail::AsioFor<Token, Versioned>::initiate(
        std::forward<Token>(token),
        [this](AsyncCallback<Versioned> callback, const std::stop_token&) { async_get(std::move(callback)); });
  }
  template <detail::CompletionToken<std::uint64_t> Token>
  auto async_set(std::string value, Token&& token) {
    return detail::AsioFor<Token, std::uint64_t>::initiate(
        std::forward<Token>(token),
        [this, value = std::move(value)](AsyncCallback<std::uint64_t> callback, const std::stop_token&) mutable {
          async_set(std::move(value), std::move(callback));
        });
  }
  template <detail::CompletionToken<Written> Token>
  auto async_compare_and_set(std::uint64_t expected, std::string value, Token&& token) {
    return detail::AsioFor<Token, Written>::initiate(
        std::forward<Token>(token),
        [this, expected, value = std::move(value)](AsyncCallback<Written> callback, const std::stop_token&) mutable {
          async_compare_and_set(expected, std::move(value), std::move(callback));
        });
  }
  template <detail::CompletionToken<std::int64_t> Token>
  auto async_add(std::int64_t amount, Token&& token) {
    return detail::AsioFor<Token, std::int64_t>::initiate(
        std::forward<Token>(token), [this, amount](AsyncCallback<std::int64_t> callback, const std::stop_token&) {
          async_add(amount, std::move(callback));
        });
  }
  template <detail::CompletionToken<Versioned> Token>
  auto async_wait_for_change(std::uint64_t seen, Token&& token) {
    return detail::AsioFor<Token, Versioned>::initiate(
        std::forward<Token>(token), [this, seen](AsyncCallback<Versioned> callback, std::stop_token stop) {
          async_wait_for_change(seen, std::move(callback), std::move(stop));
        });
  }

  const LockName& name() const noexcept { return name_; }

 private:
  std::optional<Versioned> wait_for_change_within(std::uint64_t seen, std::chrono::nanoseconds wait,
                                                  std::stop_token stop);

  std::shared_ptr<core::ClientCore> core_;
  LockName name_;
};

}  // namespace holdfast
