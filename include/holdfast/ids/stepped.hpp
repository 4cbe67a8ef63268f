#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/counter_metrics.hpp"
#include "holdfast/ids/range.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/name.hpp"

namespace holdfast::ids {

/// This is an aggregate: name the members that you change.
struct SteppedOptions {
  /// Whether each batch is noted in a second store before it is used, so that a row that has lost what it had
  /// acknowledged is noticed and refused. `where_needed`: for rows in stores whose failover may lose something.
  enum class Witness { never, where_needed, always };

  CounterOptions counter = {};
  std::uint64_t batch = 100;  ///< how many ids to take from a row at a time; at most so many are lost with a process
  Witness witness = Witness::where_needed;
};

struct SteppedMetrics {
  CounterMetrics counter = {};
  std::uint64_t at_hand = 0;    ///< ids that need no request to a store
  std::uint64_t skew = 0;       ///< how far the rows that this generator has used lie apart, in numbers
  std::uint64_t failovers = 0;  ///< how many times another store was asked, because one did not answer
};

/// The stores of a Stepped, in any order. The clients must outlive it.
using SteppedStores = std::vector<std::reference_wrapper<Client>>;

/// Ids from several stores that do not know of each other, as auto-increment columns with a step and an offset: of N
/// stores, the first yields 1, N + 1, 2 N + 1 ..., the second one 2, N + 2 and so on. As long as one store answers (with
/// a witness: two that are neighbours), there are ids.
///
///     holdfast::ids::SteppedStores stores = {one, another, a_third};
///     holdfast::ids::Stepped::set_up(stores, "ticket");  // once, or by every process when it starts
///     holdfast::ids::Stepped tickets(stores, "ticket");
///     const std::uint64_t id = tickets.next();
///
/// Which number a store is, and of how many, is recorded in the store itself, so that no process can be configured
/// wrongly. Changing the number of stores is safe, too: see change().
///
/// The ids are unique, and in no particular order. Each batch comes from the store that is least far on, so that the
/// stores stay close to each other. Errors as described for AutoIncrement, if no store yields ids. Errc::store_failed
/// if the stores were not set up, or were set up in another way. Thread-safe. In a forked child every call answers
/// Errc::forked.
class HOLDFAST_EXPORT Stepped {
 public:
  /// Makes these stores the rows of `name`. All must be reachable. Does nothing if they are already. Throws
  /// Errc::store_failed if some are, with others, or if one of them has lost what the others remember.
  static void set_up(const SteppedStores& stores, const LockName& name);

  /// Makes `to` the rows of `name` in place of `from`; some may be in both. All must be reachable, and processes may go
  /// on using either. The old rows are closed first, so that nobody can take another number from them; the new ones
  /// begin above everything that the old ones have yielded. Until this has returned there may be no ids. If it is
  /// interrupted, call it again with the same stores.
  static void change(const SteppedStores& from, const SteppedStores& to, const LockName& name);

  /// Does not contact the stores. Throws Errc::invalid_argument if there are no stores, or if the name or the options are
  /// invalid.
  Stepped(const SteppedStores& stores, const LockName& name, SteppedOptions options = {});
  ~Stepped();
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;

  /// An id if there is one at hand. Never waits.
  std::optional<std::uint64_t> try_next();
  /// Throws the reason if no id can be had now.
  std::uint64_t next(std::stop_token stop = {});
  /// Keeps trying through an outage of all stores. Returns empty if there was no id in time.
  template <class Rep, class Period>
  std::optional<std::uint64_t> next_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return next_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  std::optional<std::uint64_t> next_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                          std::stop_token stop = {}) {
    return next_within(detail::time_until(deadline), std::move(stop));
  }
  /// `count` ids of one store: each larger by the number of stores than the one before it.
  IdRange reserve(std::size_t count, std::stop_token stop = {});

  /// If an id is at hand, the callback is called inside this call. Otherwise it is called once by a thread of one of the
  /// clients, or by the thread that triggers the stop_token.
  void async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::uint64_t> Token>
  auto async_next(Token&& token) {
    return detail::AsioFor<Token, std::uint64_t>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
          async_next(std::move(callback), std::move(stop));
        });
  }

  static Traits traits() noexcept;
  SteppedMetrics metrics() const;
  const LockName& name() const noexcept;

 private:
  struct State;

  std::optional<std::uint64_t> next_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::ids
