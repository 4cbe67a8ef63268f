#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/ids/date_counter.hpp"

namespace holdfast::ids {

/// A date as a number: 20261120.
using Day = std::int64_t;

Day day_of(std::chrono::year_month_day date);
std::optional<std::chrono::year_month_day> date_of(Day day);

/// A date and a number within it.
struct DayNumber {
  Day day = 0;
  std::int64_t number = 0;

  friend bool operator==(const DayNumber&, const DayNumber&) = default;
};

/// How a date and a number become one value: the date, times a power of ten with one digit more than the ids have, plus
/// the number. The digit to spare keeps those who add at the same moment, when the day is full, from reaching the next
/// date; and it makes the values of formats with different widths differ in length.
class DateFormat {
 public:
  /// REQUIRES: the options were checked.
  explicit DateFormat(const DateCounterOptions& options);

  std::int64_t value_of(const DayNumber& at) const noexcept { return at.day * unit_ + at.number; }
  /// Empty if it is no value of this format. A number without a date has day 0: somebody has added to a register that
  /// the store had lost.
  std::optional<DayNumber> read(std::int64_t value) const noexcept;
  /// The largest number that a day has.
  std::int64_t last_number() const noexcept { return last_number_; }

  std::string text_of(const DayNumber& at) const;
  std::optional<DateId> parse(std::string_view id) const;

 private:
  std::string prefix_;
  unsigned digits_;
  std::int64_t unit_;
  std::int64_t last_number_;
};

}  // namespace holdfast::ids
