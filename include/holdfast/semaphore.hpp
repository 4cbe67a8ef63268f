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

/// A number of permits for a fleet: at most `total` are out at any time, whoever has them.
///
///     holdfast::Semaphore licences(client, "renderer-licence", 5);
///     holdfast::Hold two = licences.acquire(2);
///
/// Permits are owned: each acquire gives a Hold, with a lease that is renewed and a token larger than those before it,
/// and only that Hold gives its permits back. Those of a crashed holder come back when its lease ends. Several permits
/// are taken all at once or not at all; whoever waits for many is not overtaken by those who want few.
///
/// All clients must agree on the total: while permits are out or somebody waits, an acquire that believes in another
/// total throws Errc::invalid_argument, which names both.
///
/// A semaphore is another thing than a lock of the same name. Who holds permits: Client::show(name,
/// LockKind::semaphore). Thread-safe; errors and stop_tokens as with Mutex. Where the store has no permits
/// (StoreTraits::permits), every call answers Errc::unsupported.
class HOLDFAST_EXPORT Semaphore {
 public:
  static constexpr std::uint32_t max_total = 1'000'000;

  /// Contacts nobody. Throws Errc::invalid_argument for a bad name, bad options, or a total that is not 1 to max_total.
  Semaphore(Client& client, const LockName& name, std::uint32_t total, LockOptions options = {});
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// All that acquire throw Errc::invalid_argument if `permits` is zero or more than the total.
  Hold acquire(std::uint32_t permits = 1, std::stop_token stop = {});
  /// Empty if there are not enough, or somebody waits for some.
  [[nodiscard]] std::optional<Hold> try_acquire(std::uint32_t permits = 1);
  /// Empty if they could not be had in time. Zero tries once; a negative duration throws Errc::invalid_argument.
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

  /// Changes the total, for everybody and for this object. Raising it admits waiters at once; lowering it takes nothing
  /// away from anybody: permits are handed out again when fewer than the new total are out. Other objects that still
  /// believe in the old total are refused until they are resized, too. Throws as acquire does.
  void resize(std::uint32_t total);
  std::uint32_t total() const noexcept { return total_; }

  const LockName& name() const noexcept;

 private:
  std::optional<Hold> try_acquire_within(std::uint32_t permits, std::chrono::nanoseconds wait, std::stop_token stop);

  std::unique_ptr<core::ClientLock> lock_;
  std::atomic<std::uint32_t> total_;
};

}  // namespace holdfast
