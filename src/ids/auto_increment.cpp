#include "holdfast/ids/auto_increment.hpp"

#include "ids/calls.hpp"
#include "ids/counter_options.hpp"

namespace holdfast::ids {

struct AutoIncrement::State {
  LockName name;
  std::shared_ptr<Counter> counter;
  std::shared_ptr<CounterRegister> blocking;
  std::shared_ptr<CounterRegister> async;
};

namespace {

Steps<IdRange> take(std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source, std::int64_t count) {
  auto numbers = co_await take_numbers(counter, std::move(source), count, count);
  if (!numbers.ok()) co_return std::move(numbers.failure());
  const auto size = static_cast<std::uint64_t>(count);
  counter->issued += size;
  co_return IdRange(static_cast<std::uint64_t>(numbers.value().first), size);
}

}  // namespace

AutoIncrement::AutoIncrement(Client& client, const LockName& name, CounterOptions options) {
  const LockName its_register = register_of("counter", name);
  auto counter = make_counter("counter", name, options);
  check_store(client, "counter", name, options.require_durable);
  state_ =
      std::make_shared<State>(State{name, std::move(counter), std::make_shared<BlockingRegister>(client, its_register),
                                    std::make_shared<AsyncRegister>(client, its_register)});
}

AutoIncrement::~AutoIncrement() = default;

IdRange AutoIncrement::reserve(std::size_t count, std::stop_token stop) {
  const std::int64_t wanted = checked_count(count, *state_->counter);
  const auto& source = stop.stop_possible() ? state_->async : state_->blocking;
  return taken<IdRange>([&] { return take(state_->counter, source, wanted); }, stop);
}

std::uint64_t AutoIncrement::next(std::stop_token stop) { return reserve(1, std::move(stop)).front(); }

std::optional<std::uint64_t> AutoIncrement::next_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  const base::Instant deadline = base::saturating_add(base::BootClock::now(), wait);
  const auto range = taken_until<IdRange>(deadline, [this] { return take(state_->counter, state_->async, 1); }, stop);
  if (!range) return std::nullopt;
  return range->front();
}

void AutoIncrement::async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  taken_later<IdRange>([this] { return take(state_->counter, state_->async, 1); },
                       [callback = std::move(callback)](std::error_code error, IdRange range) mutable {
                         callback(error, error ? 0 : range.front());
                       },
                       std::move(stop));
}

Traits AutoIncrement::traits() noexcept {
  return {.kind = "auto",
          .unique_by = "a counter in the store",
          .order = Order::global,
          .carries_time = false,
          .in_an_outage = "there are no ids until the store answers again"};
}

CounterMetrics AutoIncrement::metrics() const noexcept { return state_->counter->metrics(); }

const LockName& AutoIncrement::name() const noexcept { return state_->name; }

}  // namespace holdfast::ids
