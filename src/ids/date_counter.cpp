#include "holdfast/ids/date_counter.hpp"

#include "ids/calls.hpp"
#include "ids/counter_options.hpp"
#include "ids/date_steps.hpp"

namespace holdfast::ids {
namespace {

struct Source {
  std::shared_ptr<CounterRegister> counter;
  std::shared_ptr<CounterClock> clock;
};

void check(const LockName& name, const DateCounterOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Errc::invalid_argument, "date counter '" + name.text() + "': " + what);
  };
  if (options.digits < 4 || options.digits > 9) {
    refuse("digits must be between 4 and 9, got " + std::to_string(options.digits));
  }
  if (std::chrono::abs(options.utc_offset) > std::chrono::days(1)) {
    refuse("utc_offset must be at most a day, got " + std::to_string(options.utc_offset.count()) + " minutes");
  }
}

}  // namespace

struct DateCounter::State {
  LockName name;
  std::int64_t most_at_once;
  std::shared_ptr<DateState> date;
  Source blocking;
  Source async;

  Steps<DayNumbers> take(const Source& source, std::int64_t count) const {
    return take_of_today(date, source.counter, source.clock, count);
  }
  std::string text_of(const DayNumbers& numbers, std::int64_t index = 0) const {
    return date->format.text_of({.day = numbers.day, .number = numbers.first + index});
  }
};

DateCounter::DateCounter(Client& client, const LockName& name, const DateCounterOptions& options) {
  check(name, options);
  check_store(client, "date counter", name, options.require_durable);
  const LockName its_register = register_of("date", name);
  const DateFormat format(options);
  const auto gap = static_cast<std::uint64_t>(format.last_number());
  auto counter = make_counter("date counter", name, {.gap_after_loss = std::min(options.gap_after_loss, gap)});
  state_ = std::make_shared<State>(
      State{name,
            (format.last_number() + 1) / 10,
            std::make_shared<DateState>(format, std::move(counter), options.utc_offset),
            {std::make_shared<BlockingRegister>(client, its_register), std::make_shared<BlockingClock>(client)},
            {std::make_shared<AsyncRegister>(client, its_register), std::make_shared<AsyncClock>(client)}});
}

DateCounter::~DateCounter() = default;

std::string DateCounter::next(std::stop_token stop) { return reserve(1, std::move(stop)).front(); }

std::vector<std::string> DateCounter::reserve(std::size_t count, std::stop_token stop) {
  if (count == 0 || count > static_cast<std::uint64_t>(state_->most_at_once)) {
    throw Error(Errc::invalid_argument, "of " + state_->date->counter->name + " 1 to " +
                                            std::to_string(state_->most_at_once) +
                                            " ids can be reserved at once, not " + std::to_string(count));
  }
  const Source& source = stop.stop_possible() ? state_->async : state_->blocking;
  const auto numbers = taken<DayNumbers>([&] { return state_->take(source, static_cast<std::int64_t>(count)); }, stop);
  std::vector<std::string> ids;
  ids.reserve(count);
  for (std::int64_t index = 0; index < numbers.count; ++index) ids.push_back(state_->text_of(numbers, index));
  return ids;
}

std::optional<std::string> DateCounter::next_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  const base::Instant deadline = base::saturating_add(base::BootClock::now(), wait);
  const auto numbers = taken_until<DayNumbers>(deadline, [&] { return state_->take(state_->async, 1); }, stop);
  if (!numbers) return std::nullopt;
  return state_->text_of(*numbers);
}

void DateCounter::async_next(AsyncCallback<std::string> callback, std::stop_token stop) {
  taken_later<DayNumbers>(
      [&] { return state_->take(state_->async, 1); },
      [state = state_, callback = std::move(callback)](std::error_code error, const DayNumbers& numbers) mutable {
        callback(error, error ? std::string() : state->text_of(numbers));
      },
      std::move(stop));
}

std::optional<DateId> DateCounter::parse(std::string_view id) const { return state_->date->format.parse(id); }

Traits DateCounter::traits() noexcept {
  return {.kind = "date",
          .unique_by = "a date and a counter, which are one value in the store",
          .order = Order::global,
          .carries_time = true,
          .in_an_outage = "there are no ids until the store answers again",
          .ends = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31) + std::chrono::days(1)};
}

CounterMetrics DateCounter::metrics() const noexcept { return state_->date->counter->metrics(); }

const LockName& DateCounter::name() const noexcept { return state_->name; }

}  // namespace holdfast::ids
