#include "ids/date_steps.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::ids {
namespace {

using std::chrono::system_clock;

constexpr auto asks_again_after = std::chrono::minutes(1);
constexpr std::string_view full_mark = "full ";
constexpr int most_attempts = 100;  ///< somebody else would have to be faster each time

/// What a register contains.
struct Entry {
  DayNumber at;  ///< day 0: never written
  bool full = false;
};

std::optional<Entry> entry_in(const Versioned& now, const DateFormat& format) {
  if (now.version == 0) return Entry{};
  const std::string_view text = now.value;
  if (text.starts_with(full_mark)) {
    const auto day = number_in(text.substr(full_mark.size()));
    if (!day || !date_of(*day)) return std::nullopt;
    return Entry{.at = {.day = *day, .number = format.last_number()}, .full = true};
  }
  const auto value = number_in(text);
  if (!value) return std::nullopt;
  const auto at = format.read(*value);
  if (!at) return std::nullopt;
  return Entry{.at = *at};
}

Failure not_a_date_counter(const Counter& counter) {
  return {Errc::store_failed, "what the store has as " + counter.name +
                                  " is no counter of days with so many digits; all generators of a name need the same "
                                  "number of digits"};
}

Failure full(const Counter& counter, Day day) {
  return {Errc::exhausted, "the numbers of " + counter.name + " for " + std::to_string(day) + " are used up"};
}

Day day_after(Day day) {
  const auto date = date_of(day);
  return date ? day_of(std::chrono::year_month_day(std::chrono::sys_days(*date) + std::chrono::days(1))) : day;
}

/// Why no ids of `day` are made today. Clocks may differ a little around midnight, and not by days.
std::optional<Failure> why_not_of(Day day, Day today, const Counter& counter) {
  if (day <= day_after(today) && date_of(day)) return std::nullopt;
  return Failure{Errc::wrong_clock, counter.name + " has moved to " + std::to_string(day) + ", and today is " +
                                        std::to_string(today) +
                                        ": a clock was wrong. Correct the clocks, and wait, or use another name"};
}

Steps<Day> ask_for_today(std::shared_ptr<DateState> state, std::shared_ptr<CounterClock> clock) {
  if (const auto known = state->today.known(base::BootClock::now())) co_return *known;
  auto time =
      co_await answer_of<CounterClock::Time>([&](Done<CounterClock::Time> done) { clock->now(std::move(done)); });
  if (!time.ok()) co_return std::move(time.failure());
  state->today.told(time.value(), base::BootClock::now());
  const auto today = state->today.known(base::BootClock::now());
  if (!today) co_return Failure{Errc::end_of_life, state->counter->name + " has ids for the years 1000 to 9999 only"};
  co_return *today;
}

/// Writes `text` in place of what was read. False: somebody else has written.
Steps<bool> replace(std::shared_ptr<CounterRegister> source, std::uint64_t version, std::string text) {
  auto written = co_await answer_of<Written>(
      [&](Done<Written> done) { source->compare_and_set(version, std::move(text), std::move(done)); });
  if (!written.ok()) co_return std::move(written.failure());
  co_return written.value().written;
}

/// What follows the floor after a loss; a day that has no number left is full.
std::string beyond_the_floor(const DateState& state, std::int64_t floor) {
  const DayNumber at = state.format.read(floor).value_or(DayNumber{});
  if (at.number + state.counter->gap_after_loss > state.format.last_number()) {
    return std::string(full_mark) + std::to_string(at.day);
  }
  return std::to_string(floor + state.counter->gap_after_loss);
}

/// The store has lost what it had acknowledged: leaves out what it may have given.
Steps<bool> leave_out(std::shared_ptr<DateState> state, std::shared_ptr<CounterRegister> source, std::int64_t floor) {
  auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { source->get(std::move(done)); });
  if (!now.ok()) co_return std::move(now.failure());
  const auto entry = entry_in(now.value(), state->format);
  if (!entry) co_return not_a_date_counter(*state->counter);
  if (state->format.value_of(entry->at) > floor) co_return false;
  auto replaced = co_await replace(source, now.value().version, beyond_the_floor(*state, floor));
  co_return replaced;
}

/// Nobody adds to a full day, because far too many would reach the next date.
Steps<bool> mark_full(std::shared_ptr<DateState> state, std::shared_ptr<CounterRegister> source, Day day) {
  auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { source->get(std::move(done)); });
  if (!now.ok()) co_return std::move(now.failure());
  const auto entry = entry_in(now.value(), state->format);
  if (!entry || entry->full || entry->at.day != day) co_return false;
  auto replaced = co_await replace(source, now.value().version, std::string(full_mark) + std::to_string(day));
  co_return replaced;
}

/// The register is at an older day: moves it to today with the first `count` numbers taken. None: somebody was faster,
/// or it is at today already.
Steps<DayNumbers> move_to(Day today, std::shared_ptr<DateState> state, std::shared_ptr<CounterRegister> source,
                          std::int64_t count) {
  const std::int64_t floor = state->counter->floor;
  auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { source->get(std::move(done)); });
  if (!now.ok()) co_return std::move(now.failure());
  const auto entry = entry_in(now.value(), state->format);
  if (!entry) co_return not_a_date_counter(*state->counter);
  if (entry->at.day >= today) {
    state->counter->raise_floor(state->format.value_of(entry->at));
    state->day_in_store = entry->at.day;
    if (entry->full) co_return full(*state->counter, entry->at.day);
    co_return DayNumbers{};
  }
  if (floor >= state->format.value_of({.day = today, .number = 0})) {
    ++state->counter->went_back;
    auto replaced = co_await replace(source, now.value().version, beyond_the_floor(*state, floor));
    if (!replaced.ok()) co_return std::move(replaced.failure());
    co_return DayNumbers{};
  }
  const std::int64_t value = state->format.value_of({.day = today, .number = count});
  auto replaced = co_await replace(source, now.value().version, std::to_string(value));
  if (!replaced.ok()) co_return std::move(replaced.failure());
  if (!replaced.value()) co_return DayNumbers{};
  state->counter->raise_floor(value);
  state->day_in_store = today;
  co_return DayNumbers{.day = today, .first = 1, .count = count};
}

/// Adds to the day that the register is at. None: that is an older day, or no number at all.
Steps<DayNumbers> add_to(Day today, std::shared_ptr<DateState> state, std::shared_ptr<CounterRegister> source,
                         std::int64_t count) {
  Counter& counter = *state->counter;
  const std::int64_t floor = counter.floor;
  auto sum = co_await answer_of<std::int64_t>([&](Done<std::int64_t> done) { source->add(count, std::move(done)); });
  if (!sum.ok()) {
    state->day_in_store = 0;
    if (sum.failure().code == Errc::invalid_argument) co_return DayNumbers{};
    co_return std::move(sum.failure());
  }
  const auto at = state->format.read(sum.value());
  if (!at) {
    state->day_in_store = 0;
    co_return not_a_date_counter(counter);
  }
  if (sum.value() - count < floor) {
    ++counter.went_back;
    counter.burnt += static_cast<std::uint64_t>(count);
    auto left_out = co_await leave_out(state, source, floor);
    if (!left_out.ok()) co_return std::move(left_out.failure());
    co_return DayNumbers{};
  }
  counter.raise_floor(sum.value());
  state->day_in_store = at->day;
  if (at->day < today) {
    counter.burnt += static_cast<std::uint64_t>(count);
    co_return DayNumbers{};
  }
  if (auto why = why_not_of(at->day, today, counter)) co_return *std::move(why);
  if (at->number > state->format.last_number()) {
    auto marked = co_await mark_full(state, source, at->day);
    if (!marked.ok()) co_return std::move(marked.failure());
    co_return full(counter, at->day);
  }
  if (at->number < count) co_return DayNumbers{};
  co_return DayNumbers{.day = at->day, .first = at->number - count + 1, .count = count};
}

}  // namespace

std::optional<Day> StoreDay::known(base::Instant now) const {
  const std::scoped_lock lock(mutex_);
  if (!told_ || now - told_->at > asks_again_after) return std::nullopt;
  const Time time =
      told_->time ? *told_->time + std::chrono::duration_cast<Time::duration>(now - told_->at) : system_clock::now();
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time + utc_offset_));
  const Day day = day_of(date);
  if (!date_of(day)) return std::nullopt;
  return day;
}

void StoreDay::told(CounterClock::Time time, base::Instant now) {
  const std::scoped_lock lock(mutex_);
  told_ = Told{.at = now, .time = time};
}

Steps<DayNumbers> take_of_today(std::shared_ptr<DateState> state, std::shared_ptr<CounterRegister> source,
                                std::shared_ptr<CounterClock> clock, std::int64_t count) {
  if (auto why = why_not_here(*state->counter)) co_return *std::move(why);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    auto today = co_await ask_for_today(state, clock);
    if (!today.ok()) co_return std::move(today.failure());
    const bool adds = state->day_in_store >= today.value();
    auto numbers = adds ? add_to(today.value(), state, source, count) : move_to(today.value(), state, source, count);
    auto taken = co_await numbers;
    if (!taken.ok()) {
      ++state->counter->refused;
      if (taken.failure().code == Errc::in_doubt) state->counter->burnt += static_cast<std::uint64_t>(count);
      co_return taken;
    }
    if (taken.value().count > 0) {
      state->counter->issued += static_cast<std::uint64_t>(count);
      co_return taken;
    }
  }
  co_return Failure{Errc::unreachable,
                    "others were faster each time that a number of " + state->counter->name + " was taken"};
}

}  // namespace holdfast::ids
