#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/export.hpp"

namespace holdfast {

namespace core {
class ClientCore;
}

/// What a store's clock showed at the moment when its answer arrived: a time between `time - uncertainty` and
/// `time + uncertainty`. The uncertainty is half of the round trip.
struct StoreTime {
  std::chrono::system_clock::time_point time = {};
  std::chrono::nanoseconds uncertainty = {};
};

/// The time of day as the store sees it, which is the same for all of its clients, however wrong their own clocks are.
///
///     holdfast::StoreClock clock(client);
///     if (const auto now = clock.now()) compare(now->time, std::chrono::system_clock::now());
///
/// Each call asks the store. The answer is empty if the store has no clock (StoreTraits::has_clock). A call may throw
/// Error, Errc::unreachable above all. Thread-safe. A StoreClock may outlive its Client; every call then answers
/// Errc::closed.
class HOLDFAST_EXPORT StoreClock {
 public:
  /// Does not contact the store.
  explicit StoreClock(Client& client);
  ~StoreClock();
  StoreClock(const StoreClock&) = delete;
  StoreClock& operator=(const StoreClock&) = delete;

  std::optional<StoreTime> now();
  void async_now(AsyncCallback<std::optional<StoreTime>> callback);

  template <detail::CompletionToken<std::optional<StoreTime>> Token>
  auto async_now(Token&& token) {
    return detail::AsioFor<Token, std::optional<StoreTime>>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::optional<StoreTime>> callback, const std::stop_token&) {
          async_now(std::move(callback));
        });
  }

 private:
  std::shared_ptr<core::ClientCore> core_;
};

}  // namespace holdfast
