#include "holdfast/ids/stepped.hpp"

#include <deque>
#include <mutex>

#include "base/fork.hpp"
#include "ids/calls.hpp"
#include "ids/counter_options.hpp"
#include "ids/stepped_rows.hpp"

namespace holdfast::ids {

struct Stepped::State {
  State(const SteppedStores& stores, const LockName& name, const SteppedOptions& options)
      : rows(std::make_shared<SteppedRows>(stores, name, options)), batch(static_cast<std::int64_t>(options.batch)) {}

  Steps<IdRange> take() const { return take_batch(rows, batch, 1); }
  /// In a forked child nothing is at hand: the ids are the parent's.
  std::optional<std::uint64_t> at_hand() {
    if (why_not_here(*rows->total)) return std::nullopt;
    const std::scoped_lock lock(mutex);
    if (batches.empty()) return std::nullopt;
    const IdRange batch_in_use = batches.front();
    const std::uint64_t id = batch_in_use[used];
    if (++used == batch_in_use.size()) {
      batches.pop_front();
      used = 0;
    }
    ++rows->total->issued;
    return id;
  }
  /// The first id of a batch; the others are then at hand.
  std::uint64_t first_of(const IdRange& ids) {
    ++rows->total->issued;
    if (ids.size() > 1) {
      const std::scoped_lock lock(mutex);
      batches.emplace_back(ids[1], ids.size() - 1, IdRange::Shape{.step = ids[1] - ids[0]});
    }
    return ids.front();
  }
  std::uint64_t left() {
    const std::scoped_lock lock(mutex);
    std::uint64_t left = 0;
    for (const IdRange& ids : batches) left += ids.size();
    return left - used;
  }

  const std::shared_ptr<SteppedRows> rows;
  const std::int64_t batch;
  std::mutex mutex;
  std::deque<IdRange> batches;
  std::size_t used = 0;  ///< of the first batch
};

Stepped::Stepped(const SteppedStores& stores, const LockName& name, SteppedOptions options) {
  constexpr std::uint64_t largest_batch = 1'000'000'000;
  if (options.batch == 0 || options.batch > largest_batch) {
    throw Error(Errc::invalid_argument, "the batch of stepped '" + name.text() + "' must be between 1 and " +
                                            std::to_string(largest_batch) + ", got " + std::to_string(options.batch));
  }
  state_ = std::make_shared<State>(stores, name, options);
}

Stepped::~Stepped() {
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory for it, the program may end
  if (why_not_here(*state_->rows->total)) base::keep_for_ever(new std::shared_ptr<State>(std::move(state_)));
}

std::optional<std::uint64_t> Stepped::try_next() { return state_->at_hand(); }

std::uint64_t Stepped::next(std::stop_token stop) {
  if (const auto id = state_->at_hand()) return *id;
  return state_->first_of(taken<IdRange>([&] { return state_->take(); }, stop));
}

std::optional<std::uint64_t> Stepped::next_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  if (const auto id = state_->at_hand()) return id;
  const base::Instant deadline = base::saturating_add(base::BootClock::now(), wait);
  const auto ids = taken_until<IdRange>(deadline, [&] { return state_->take(); }, stop);
  if (!ids) return std::nullopt;
  return state_->first_of(*ids);
}

IdRange Stepped::reserve(std::size_t count, std::stop_token stop) {
  const std::int64_t wanted = checked_count(count, *state_->rows->total);
  const auto ids = taken<IdRange>([&] { return take_batch(state_->rows, wanted, wanted); }, stop);
  state_->rows->total->issued += count;
  return ids;
}

void Stepped::async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  if (const auto id = state_->at_hand()) return callback({}, *id);
  taken_later<IdRange>([&] { return state_->take(); },
                       [state = state_, callback = std::move(callback)](std::error_code error, IdRange ids) mutable {
                         callback(error, error ? 0 : state->first_of(ids));
                       },
                       std::move(stop));
}

Traits Stepped::traits() noexcept {
  return {.kind = "stepped",
          .unique_by = "a row in each store, with a step and an offset",
          .order = Order::none,
          .carries_time = false,
          .in_an_outage = "it goes on with the stores that answer"};
}

SteppedMetrics Stepped::metrics() const {
  if (why_not_here(*state_->rows->total)) return {};
  return {.counter = state_->rows->metrics(),
          .at_hand = state_->left(),
          .skew = state_->rows->skew(),
          .failovers = state_->rows->failovers()};
}

const LockName& Stepped::name() const noexcept { return state_->rows->name; }

}  // namespace holdfast::ids
