#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast {

namespace core {
class ClientLock;
}

/// A number of permits for a fleet of processes: at most `total` of them are held at any time, whoever holds them.
///
///     holdfast::Semaphore licences(client, "renderer-licence", 5);
///     holdfast::Hold two = licences.acquire(2);
///
/// Permits have an owner. Each acquire returns a Hold, with a lease that is renewed and a token larger than those
/// before it, and only that Hold can release its permits. The permits of a crashed holder become free when its lease
/// ends. Several permits are acquired all at once or not at all, and a client that waits for many is not overtaken by
/// clients that want few.
///
/// All clients must agree on the total. While permits are held or somebody waits, an acquire that assumes another total
/// throws Errc::invalid_argument with a message that names both totals.
///
/// A semaphore and a lock of the same name are independent of each other. Client::show(name, LockKind::semaphore) tells
/// who holds permits. Thread-safe. Errors and stop_tokens work as described for Mutex. Every call answers
/// Errc::unsupported if the store does not support permits (StoreTraits::permits).
class HOLDFAST_EXPORT Semaphore {
 public:
  static constexpr std::uint32_t max_total = 1'000'000;

  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid, or if the total
  /// is not between 1 and max_total.
  Semaphore(Client& client, const LockName& name, std::uint32_t total, LockOptions options = {});
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// Waits until `permits` permits are held. Like all functions that acquire, it throws Errc::invalid_argument if
  /// `permits` is zero or more than the total.
  Hold acquire(std::uint32_t permits = 1, std::stop_token stop = {});
  /// Returns empty if there are not enough free permits, or if somebody is waiting for some.
  [[nodiscard]] std::optional<Hold> try_acquire(std::uint32_t permits = 1);
  /// Returns empty if the permits could not be acquired in time. A duration of zero tries once; a negative one throws
  /// Errc::invalid_argument.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_for(const std::chrono::duration<Rep, Period>& duration,
                                                    std::uint32_t permits = 1, std::stop_token stop = {}) {
    return try_acquire_within(permits, detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<Hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                                      std::uint32_t permits = 1, std::stop_token stop = {}) {
    return try_acquire_within(permits, detail::time_until(deadline), std::move(stop));
  }
  void async_acquire(std::uint32_t permits, AcquireCallback callback, std::stop_token stop = {});
  template <detail::CompletionToken<Hold> Token>
  auto async_acquire(std::uint32_t permits, Token&& token) {
    return detail::AsioFor<Token, Hold>::initiate(std::forward<Token>(token),
                                                  [this, permits](AcquireCallback callback, std::stop_token stop) {
                                                    async_acquire(permits, std::move(callback), std::move(stop));
                                                  });
  }

  /// Changes the total, for everybody and for this object. A larger total admits waiters at once. A smaller one takes
  /// nothing away from anybody: permits are granted again when fewer than the new total are held. Other objects that
  /// still assume the old total are refused until they are resized, too. Throws the same errors as acquire().
  void resize(std::uint32_t total);
  std::uint32_t total() const noexcept { return total_; }

  const LockName& name() const noexcept;

 private:
  std::optional<Hold> try_acquire_within(std::uint32_t permits, std::chrono::nanoseconds wait, std::stop_token stop);

  std::unique_ptr<core::ClientLock> lock_;
  std::atomic<std::uint32_t> total_;
};

}  // namespace holdfast
