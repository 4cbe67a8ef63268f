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

/// A value and its version. Version 0: it was never written, and the value is empty. Each write makes the version
/// larger, so a value that was changed and changed back is not mistaken for one that was left alone.
struct Versioned {
  std::string value = {};
  std::uint64_t version = 0;
};

/// What became of a conditional write: whether it was written, and what the register holds now.
struct Written {
  bool written = false;
  Versioned now = {};
  explicit operator bool() const noexcept { return written; }
};

/// A small named value in the store, with a version: optimistic locking.
///
///     holdfast::Register stock(client, "stock/4711");
///     stock.update([](const std::string& value) { return std::to_string(std::stoi(value) - 1); });
///
/// Reads see every write that was acknowledged before; a write is durable, as far as the store is, before it is
/// acknowledged. Any bytes are allowed, up to StoreTraits::max_value_bytes. Another thing than a lock of the same name.
///
/// Every call throws Error: Errc::unreachable if the store cannot be reached, and then nothing was written;
/// Errc::in_doubt if a write was sent and never answered: read to find out. Never a failure for what may have happened.
/// Thread-safe. May outlive its Client: then every call answers Errc::closed.
class HOLDFAST_EXPORT Register {
 public:
  /// Contacts nobody. Throws Errc::invalid_argument for a bad name.
  Register(Client& client, const LockName& name);
  ~Register();
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;

  Versioned get();
  /// Writes whatever was there before. The new version.
  std::uint64_t set(std::string value);
  /// Writes if the version still is `expected` (0: if it was never written).
  Written compare_and_set(std::uint64_t expected, std::string value);
  /// Adds to a decimal number (never written: 0) and returns the sum. Throws Errc::invalid_argument if the value is no
  /// number, or the sum does not fit.
  std::int64_t add(std::int64_t amount);

  /// Reads, computes and writes, again and again until nobody else has written in between; returns what was written.
  /// `change` may run several times, must not have effects of its own, and may throw to give up.
  Versioned update(MoveOnlyFunction<std::string(const std::string& value)> change, std::stop_token stop = {});

  /// Waits until the version is no longer `seen` and returns what the register then holds; a version that is more than
  /// one larger says that something in between was missed. Survives outages of the store.
  Versioned wait_for_change(std::uint64_t seen, std::stop_token stop = {});
  /// Empty if nothing changed in time.
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
