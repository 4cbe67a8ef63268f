#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/ids/counter_metrics.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/name.hpp"

namespace holdfast::ids {

/// How the ids of a DateCounter look. All generators of a name must pass the same `digits` and `utc_offset`. This is an
/// aggregate: name the members that you change.
struct DateCounterOptions {
  /// What to do when the numbers of a day are used up: Errc::exhausted until the next day, or one digit more.
  enum class WhenFull { refuse, widen };

  std::string prefix = {};  ///< what each id begins with
  unsigned digits = 8;      ///< of the number within the day: 4 to 9
  WhenFull when_full = WhenFull::refuse;
  std::chrono::minutes utc_offset = {};  ///< in which time zone a day begins; at most a day
  std::uint64_t gap_after_loss = 1'000;  ///< as for CounterOptions
  bool require_durable = false;          ///< as for CounterOptions
};

/// The parts of an id of a DateCounter.
struct DateId {
  std::chrono::year_month_day day = {};
  std::uint64_t number = 0;

  friend bool operator==(const DateId&, const DateId&) = default;
};

/// Ids that a person can read: a prefix, the date, and a number that begins with 1 each day.
///
///     holdfast::ids::DateCounter orders(client, "order", {.prefix = "ORD-", .digits = 6});
///     const std::string id = orders.next();  // ORD-20261120000001
///
/// The date is the store's, or this host's if the store has no clock. Date and number are one value in the store, so
/// that they always belong together: the value only grows, and moves to the next date with the first id of that day,
/// never back. A host whose clock is behind continues with the date that others have moved to. Ids rise among all
/// processes, and they sort as texts.
///
/// A number whose answer was lost is left out. If an answer shows that the store has lost what it had acknowledged, the
/// numbers up to the largest one that this generator has seen, and a gap, are left out.
///
/// Errors as described for AutoIncrement, and Errc::exhausted when the numbers of the day are used up. Thread-safe.
class HOLDFAST_EXPORT DateCounter {
 public:
  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  DateCounter(Client& client, const LockName& name, const DateCounterOptions& options = {});
  ~DateCounter();
  DateCounter(const DateCounter&) = delete;
  DateCounter& operator=(const DateCounter&) = delete;

  /// Throws the reason if no id can be had now.
  std::string next(std::stop_token stop = {});
  /// Keeps trying through an outage of the store. Returns empty if there was no id in time.
  template <class Rep, class Period>
  std::optional<std::string> next_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return next_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  std::optional<std::string> next_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                        std::stop_token stop = {}) {
    return next_within(detail::time_until(deadline), std::move(stop));
  }
  /// `count` consecutive ids of one day with one request. Throws Errc::invalid_argument unless the count is between 1
  /// and a tenth of what a day has.
  std::vector<std::string> reserve(std::size_t count, std::stop_token stop = {});

  /// The callback is called once, on one of the client's threads, or on the thread that triggers the stop_token.
  void async_next(AsyncCallback<std::string> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::string> Token>
  auto async_next(Token&& token) {
    return detail::AsioFor<Token, std::string>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::string> callback, std::stop_token stop) {
          async_next(std::move(callback), std::move(stop));
        });
  }

  /// Takes an id of this form apart. Empty if it is none.
  std::optional<DateId> parse(std::string_view id) const;

  static Traits traits() noexcept;
  CounterMetrics metrics() const noexcept;
  const LockName& name() const noexcept;

 private:
  struct State;

  std::optional<std::string> next_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<State> state_;
};

}  // namespace holdfast::ids
