#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/name.hpp"

namespace holdfast {

namespace core {
class ClientCore;
}

/// `std::latch` across processes: it opens for good once it has been counted down to zero.
///
///     holdfast::Latch ready(client, "migration-42/ready", 3);
///     ready.count_down();  // in each of three processes
///     ready.wait();        // in whoever waits for them
///
/// The store remembers a latch for ever, whether it is open or not, so use a new name for each occasion. What a process
/// has counted stays counted after that process has ended. All who use a name must pass the same count; otherwise every
/// call throws Errc::invalid_argument. Thread-safe. Errors and stop_tokens work as described for Register.
class HOLDFAST_EXPORT Latch {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name is invalid or the count is zero.
  Latch(Client& client, const LockName& name, std::uint32_t count);
  ~Latch();
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  /// Counts down by `by` and returns how much is left. Counting below zero throws Errc::invalid_argument and changes
  /// nothing. After Errc::in_doubt the store may have counted.
  std::uint32_t count_down(std::uint32_t by = 1);
  /// How much is left to count down.
  std::uint32_t missing();

  /// Waits until the latch is open. The wait survives outages of the store.
  void wait(std::stop_token stop = {});
  /// The same with a time limit. Returns whether the latch opened in time.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return wait_within(detail::saturated(duration), std::move(stop));
  }
  void async_count_down(std::uint32_t by, AsyncCallback<std::uint32_t> callback);
  template <detail::CompletionToken<std::uint32_t> Token>
  auto async_count_down(std::uint32_t by, Token&& token) {
    return detail::AsioFor<Token, std::uint32_t>::initiate(
        std::forward<Token>(token), [this, by](AsyncCallback<std::uint32_t> callback, const std::stop_token&) {
          async_count_down(by, std::move(callback));
        });
  }
  void async_wait(AsyncCallback<> callback, std::stop_token stop = {});
  template <detail::CompletionToken<> Token>
  auto async_wait(Token&& token) {
    return detail::AsioFor<Token>::initiate(
        std::forward<Token>(token),
        [this](AsyncCallback<> callback, std::stop_token stop) { async_wait(std::move(callback), std::move(stop)); });
  }

  const LockName& name() const noexcept { return name_; }

 private:
  bool wait_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<core::ClientCore> core_;
  LockName name_;
  std::uint32_t count_;
};

}  // namespace holdfast
