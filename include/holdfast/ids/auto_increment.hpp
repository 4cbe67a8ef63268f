#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/ids/counter_metrics.hpp"
#include "holdfast/ids/range.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/name.hpp"

namespace holdfast::ids {

/// What the kinds that count have in common. This is an aggregate: name the members that you change.
struct CounterOptions {
  /// The largest id. After it every call throws Errc::end_of_life. Choose 2^53 - 1 if JavaScript is to read the ids as
  /// numbers, and 2^31 - 1 if they go into a column of 32 bits.
  std::uint64_t last = std::numeric_limits<std::int64_t>::max() - 1;

  /// How many numbers are left out when the store turns out to have lost what it had acknowledged. Other processes may
  /// have been given numbers that are lost as well, so this should be more than what all of them use in the time that a
  /// failover may lose.
  std::uint64_t gap_after_loss = 1'000'000;

  /// Throws Errc::unsupported from the constructor if a failover of the store may lose what it has acknowledged
  /// (StoreTraits::failover_may_lose). Without this, the ids are unique there while the store loses nothing.
  bool require_durable = false;
};

/// One counter in the store and one request for each id: the simplest kind, and the only one whose ids rise among all
/// processes.
///
///     holdfast::ids::AutoIncrement invoices(client, "invoice");
///     const std::uint64_t number = invoices.next();
///
/// The ids begin at 1. All generators of a name share one counter, whatever their processes, and a Segment of the same
/// name draws from it, too. An id that was given to a caller that no longer waited for it, or whose answer was lost, is
/// left out: there are gaps, and never repetitions.
///
/// Every call may throw Error: Errc::unreachable if the store did not answer (the call may simply be repeated), Errc::
/// end_of_life if there is no id left, and Errc::store_failed if the register of that name is no counter. Thread-safe. A
/// generator may outlive its Client; every call then answers Errc::closed. In a forked child it answers Errc::forked.
class HOLDFAST_EXPORT AutoIncrement {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  AutoIncrement(Client& client, const LockName& name, CounterOptions options = {});
  ~AutoIncrement();
  AutoIncrement(const AutoIncrement&) = delete;
  AutoIncrement& operator=(const AutoIncrement&) = delete;

  /// Throws the reason if no id can be had now.
  std::uint64_t next(std::stop_token stop = {});
  /// Keeps trying through an outage of the store. Returns empty if there was no id in time.
  template <class Rep, class Period>
  std::optional<std::uint64_t> next_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return next_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  std::optional<std::uint64_t> next_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                          std::stop_token stop = {}) {
    return next_within(detail::time_until(deadline), std::move(stop));
  }
  /// `count` consecutive ids with one request. Throws Errc::invalid_argument if the count is 0 or not below 2^63, and
  /// Errc::end_of_life if there are fewer ids left.
  IdRange reserve(std::size_t count, std::stop_token stop = {});

  /// The callback is called once, on one of the client's threads, or on the thread that triggers the stop_token.
  void async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::uint64_t> Token>
  auto async_next(Token&& token) {
    return detail::AsioFor<Token, std::uint64_t>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
          async_next(std::move(callback), std::move(stop));
        });
  }

  static Traits traits() noexcept;
  CounterMetrics metrics() const noexcept;
  const LockName& name() const noexcept;

 private:
  struct State;

  std::optional<std::uint64_t> next_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::ids
