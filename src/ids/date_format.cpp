#include "ids/date_format.hpp"

#include <algorithm>

#include "ids/counter.hpp"

namespace holdfast::ids {
namespace {

constexpr Day first_day = 10'000'101;
constexpr Day last_day = 99'991'231;
constexpr std::size_t date_digits = 8;

std::int64_t power_of_ten(unsigned exponent) {
  std::int64_t power = 1;
  for (unsigned digit = 0; digit < exponent; ++digit) power *= 10;
  return power;
}

}  // namespace

Day day_of(std::chrono::year_month_day date) {
  return static_cast<int>(date.year()) * Day{10'000} + static_cast<unsigned>(date.month()) * Day{100} +
         static_cast<unsigned>(date.day());
}

std::optional<std::chrono::year_month_day> date_of(Day day) {
  if (day < first_day || day > last_day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(day / 10'000)),
                                         std::chrono::month(static_cast<unsigned>(day / 100 % 100)),
                                         std::chrono::day(static_cast<unsigned>(day % 100)));
  if (!date.ok()) return std::nullopt;
  return date;
}

DateFormat::DateFormat(const DateCounterOptions& options)
    : prefix_(options.prefix), digits_(options.digits), unit_(power_of_ten(options.digits + 1)) {
  const bool widens = options.when_full == DateCounterOptions::WhenFull::widen;
  last_number_ = widens ? unit_ / 10 * 9 : unit_ / 10 - 1;
}

std::optional<DayNumber> DateFormat::read(std::int64_t value) const noexcept {
  const DayNumber at = {.day = value / unit_, .number = value % unit_};
  const bool is_day = at.day >= first_day && at.day <= last_day;
  if (value < 0 || (!is_day && at.day != 0)) return std::nullopt;
  return at;
}

std::string DateFormat::text_of(const DayNumber& at) const {
  const std::string number = std::to_string(at.number);
  const std::size_t missing = number.size() < digits_ ? digits_ - number.size() : 0;
  return prefix_ + std::to_string(at.day) + std::string(missing, '0') + number;
}

std::optional<DateId> DateFormat::parse(std::string_view id) const {
  if (!id.starts_with(prefix_)) return std::nullopt;
  id.remove_prefix(prefix_.size());
  const bool all_digits = std::ranges::all_of(id, [](char each) { return each >= '0' && each <= '9'; });
  const std::size_t length = date_digits + digits_;
  if (!all_digits || (id.size() != length && id.size() != length + 1)) return std::nullopt;
  const auto date = date_of(number_in(id.substr(0, date_digits)).value_or(0));
  const std::int64_t number = number_in(id.substr(date_digits)).value_or(0);
  const bool is_wider = id.size() != length;
  if (!date || number == 0 || is_wider != (number >= unit_ / 10)) return std::nullopt;
  return DateId{.day = *date, .number = static_cast<std::uint64_t>(number)};
}

}  // namespace holdfast::ids
