#include "ids/stepped_rows.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "ids/counter_options.hpp"

namespace holdfast::ids {
namespace {

constexpr auto first_rest = std::chrono::milliseconds(50);

Failure not_set_up(const SteppedRows& rows, const std::string& what) {
  return {Errc::store_failed, rows.total->name + ": " + what};
}

}  // namespace

SteppedRows::SteppedRows(const SteppedStores& stores, const LockName& its_name, const SteppedOptions& options)
    : name(its_name),
      last(options.counter.last),
      total(make_counter("stepped", its_name, options.counter)),
      turn_(base::Random(base::Random::fresh_seed()).next()) {
  using Witness = SteppedOptions::Witness;
  if (stores.empty()) throw Error(Errc::invalid_argument, total->name + " needs at least one store");
  for (Client& client : stores) {
    check_store(client, "stepped", name, options.counter.require_durable);
    SteppedRow row(client);
    row.record_register = std::make_shared<AsyncRegister>(client, ids::record_register(name));
    const bool may_lose = !client.traits().failover_may_lose.empty();
    row.needs_witness = options.witness == Witness::always || (options.witness == Witness::where_needed && may_lose);
    rows_.push_back(std::move(row));
  }
}

CounterMetrics SteppedRows::metrics() const {
  CounterMetrics metrics = total->metrics();
  const std::scoped_lock lock(mutex_);
  for (const SteppedRow& row : rows_) {
    if (!row.counter) continue;
    metrics.burnt += row.counter->burnt;
    metrics.went_back += row.counter->went_back;
  }
  return metrics;
}

std::uint64_t SteppedRows::skew() const {
  const std::scoped_lock lock(mutex_);
  std::optional<std::int64_t> least;
  std::int64_t most = 0;
  for (const SteppedRow& row : rows_) {
    if (row.furthest == 0) continue;
    least = std::min(least.value_or(row.furthest), row.furthest);
    most = std::max(most, row.furthest);
  }
  return static_cast<std::uint64_t>(most - least.value_or(most));
}

std::vector<std::size_t> SteppedRows::order() const {
  const base::Instant now = base::BootClock::now();
  const std::scoped_lock lock(mutex_);
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) {
    return std::tuple(now < rows_[at].rests_until, rows_[at].furthest, (at + turn_) % rows_.size());
  });
  return order;
}

std::shared_ptr<CounterRegister> SteppedRows::witness_of(const SteppedRecord& record) const {
  const std::scoped_lock lock(mutex_);
  const std::uint32_t after = (record.index + 1) % record.stores;
  for (const SteppedRow& row : rows_) {
    if (!row.record || row.record->set != record.set || row.record->index != after) continue;
    return std::make_shared<AsyncRegister>(*row.client, witness_register(name, record.epoch, record.index));
  }
  return nullptr;
}

/// Reads what a store was told.
Steps<bool> learn(std::shared_ptr<SteppedRows> rows, std::size_t at) {
  const std::shared_ptr<CounterRegister> source = rows->rows_[at].record_register;
  auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { source->get(std::move(done)); });
  if (!now.ok()) co_return std::move(now.failure());
  const auto record = stepped_record_in(now.value().value);
  if (!record || record->state == SteppedRecord::State::proposed) {
    co_return not_set_up(*rows, "a store was not set up; call Stepped::set_up()");
  }
  if (record->state == SteppedRecord::State::retired) {
    co_return not_set_up(*rows, "others have taken the place of a store");
  }
  const std::scoped_lock lock(rows->mutex_);
  SteppedRow& row = rows->rows_[at];
  if (row.record == record) co_return true;
  row.counter =
      std::make_shared<Counter>(rows->total->name, std::min(record->last_number(rows->last), Counter::largest_last));
  row.numbers = std::make_shared<AsyncRegister>(*row.client, row_register(rows->name, record->epoch));
  row.record = record;
  row.furthest = 0;
  co_return true;
}

/// Notes in another store how far the row has come, before anybody uses the numbers. False: the numbers cannot be used,
/// because somebody has noted larger ones meanwhile. Errc::store_failed if the row has lost what it had acknowledged.
Steps<bool> note(std::shared_ptr<SteppedRows> rows, std::size_t at, Numbers numbers) {
  SteppedRecord record;
  std::shared_ptr<CounterRegister> row;
  {
    const std::scoped_lock lock(rows->mutex_);
    record = *rows->rows_[at].record;
    row = rows->rows_[at].numbers;
  }
  std::shared_ptr<CounterRegister> witness = rows->witness_of(record);
  for (std::size_t each = 0; !witness && each < rows->rows_.size(); ++each) {
    auto learnt = co_await learn(rows, each);
    if (learnt.ok()) witness = rows->witness_of(record);
  }
  if (!witness) {
    co_return Failure{Errc::unreachable,
                      rows->total->name + ": the store that is the witness of another cannot be reached"};
  }
  for (;;) {
    auto noted = co_await answer_of<Versioned>([&](Done<Versioned> done) { witness->get(std::move(done)); });
    if (!noted.ok()) co_return std::move(noted.failure());
    const std::int64_t furthest = number_of_row(noted.value().value).value_or(0);
    if (furthest >= numbers.first) {
      // Others may have taken, and noted, larger numbers since. Then the row is at least as far.
      auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { row->get(std::move(done)); });
      if (!now.ok()) co_return std::move(now.failure());
      if (number_of_row(now.value().value).value_or(0) >= furthest) co_return false;
      co_return Failure{Errc::store_failed,
                        rows->total->name +
                            ": a store has lost numbers that it had given, as its witness shows; its "
                            "row is not used any more. Call Stepped::change() with the stores there are"};
    }
    auto written = co_await answer_of<Written>([&](Done<Written> done) {
      witness->compare_and_set(noted.value().version, std::to_string(numbers.end - 1), std::move(done));
    });
    if (!written.ok()) co_return std::move(written.failure());
    if (written.value().written) co_return true;
  }
}

Steps<IdRange> take_from(std::shared_ptr<SteppedRows> rows, std::size_t at, std::int64_t count, std::int64_t at_least) {
  constexpr int most_attempts = 20;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    SteppedRecord record;
    std::shared_ptr<Counter> counter;
    std::shared_ptr<CounterRegister> source;
    bool needs_witness = false;
    {
      const std::scoped_lock lock(rows->mutex_);
      const SteppedRow& row = rows->rows_[at];
      record = row.record.value_or(SteppedRecord{});
      counter = row.counter;
      source = row.numbers;
      needs_witness = row.needs_witness && record.stores > 1;
    }
    if (!counter) {
      auto learnt = co_await learn(rows, at);
      if (!learnt.ok()) co_return std::move(learnt.failure());
      continue;
    }
    auto numbers = co_await take_numbers(counter, source, count, at_least);
    if (!numbers.ok()) {
      // Nobody can add to a closed row: there is a new epoch, or will be.
      if (numbers.failure().code != Errc::store_failed) co_return std::move(numbers.failure());
      auto learnt = co_await learn(rows, at);
      if (!learnt.ok()) co_return std::move(learnt.failure());
      const std::scoped_lock lock(rows->mutex_);
      if (rows->rows_[at].record == record) {
        co_return not_set_up(*rows, "its stores are being changed; if that was interrupted, call change() again");
      }
      continue;
    }
    if (needs_witness) {
      auto noted = co_await note(rows, at, numbers.value());
      if (!noted.ok() || !noted.value()) rows->total->burnt += static_cast<std::uint64_t>(numbers.value().size());
      if (!noted.ok()) co_return std::move(noted.failure());
      if (!noted.value()) continue;
    }
    const std::scoped_lock lock(rows->mutex_);
    SteppedRow& row = rows->rows_[at];
    if (row.record == record) row.furthest = std::max(row.furthest, numbers.value().end - 1);
    co_return IdRange(record.id_of(numbers.value().first), static_cast<std::size_t>(numbers.value().size()),
                      {.step = record.stores});
  }
  co_return Failure{Errc::unreachable, "others were faster each time that ids of " + rows->total->name + " were taken"};
}

Steps<IdRange> take_batch(std::shared_ptr<SteppedRows> rows, std::int64_t count, std::int64_t at_least) {
  if (auto why = why_not_here(*rows->total)) co_return *std::move(why);
  Failure failure;
  const std::vector<std::size_t> order = rows->order();
  for (const std::size_t at : order) {
    auto ids = co_await take_from(rows, at, count, at_least);
    {
      const std::scoped_lock lock(rows->mutex_);
      SteppedRow& row = rows->rows_[at];
      row.failures = ids.ok() ? 0 : std::min(row.failures + 1, 7U);
      if (!ids.ok()) row.rests_until = base::BootClock::now() + first_rest * (1U << row.failures);
    }
    if (ids.ok()) co_return ids;
    ++rows->total->refused;
    if (at != order.back()) ++rows->failovers_;
    failure = std::move(ids.failure());
  }
  co_return failure;
}

}  // namespace holdfast::ids
