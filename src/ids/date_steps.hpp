#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/instant.hpp"
#include "ids/counter.hpp"
#include "ids/date_format.hpp"

namespace holdfast::ids {

/// The day that it is in a store, asked for once a minute and counted on in between.
class StoreDay {
 public:
  explicit StoreDay(std::chrono::minutes utc_offset) : utc_offset_(utc_offset) {}

  /// Empty if the store has to be asked.
  std::optional<Day> known(base::Instant now) const;
  void told(CounterClock::Time time, base::Instant now);

 private:
  using Time = std::chrono::system_clock::time_point;
  struct Told {
    base::Instant at;
    CounterClock::Time time;
  };

  const std::chrono::minutes utc_offset_;
  mutable std::mutex mutex_;
  std::optional<Told> told_;
};

/// What a generator knows about its counter of days. The counter's floor is a value of the register, too.
struct DateState {
  DateState(DateFormat its_format, std::shared_ptr<Counter> its_counter, std::chrono::minutes utc_offset)
      : format(std::move(its_format)), counter(std::move(its_counter)), today(utc_offset) {}

  const DateFormat format;
  const std::shared_ptr<Counter> counter;
  StoreDay today;
  std::atomic<Day> day_in_store = 0;  ///< when it was last heard of; an attempt to add is worthwhile if it is today
};

struct DayNumbers {
  Day day = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Takes the next `count` numbers of today. The register contains
///
///     nothing            nobody has taken a number yet
///     a value            DateFormat: `add` returns the day and the number together
///     "full 20261120"    the numbers of that day are used up; nobody can add to that
///
/// and moves to another day by compare-and-set only, never back.
Steps<DayNumbers> take_of_today(std::shared_ptr<DateState> state, std::shared_ptr<CounterRegister> source,
                                std::shared_ptr<CounterClock> clock, std::int64_t count);

}  // namespace holdfast::ids
