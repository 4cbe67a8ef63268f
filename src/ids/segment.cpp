#include "holdfast/ids/segment.hpp"

#include "base/fork.hpp"
#include "ids/counter_options.hpp"
#include "ids/segment_supply.hpp"

namespace holdfast::ids {
namespace {

StepRule::Bounds checked_bounds(const LockName& name, const SegmentOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Errc::invalid_argument, "segment '" + name.text() + "': " + what);
  };
  constexpr std::uint64_t largest = 1'000'000'000'000;
  if (options.min_step == 0 || options.min_step > options.max_step || options.max_step > largest) {
    refuse("min_step must be at least 1, and max_step between min_step and " + std::to_string(largest) + ", got " +
           std::to_string(options.min_step) + " and " + std::to_string(options.max_step));
  }
  if (options.outage_budget < std::chrono::milliseconds::zero() ||
      options.outage_budget > std::chrono::hours(24 * 366)) {
    refuse("outage_budget must be between 0 and a year, got " + std::to_string(options.outage_budget.count()) + " ms");
  }
  return {.smallest = static_cast<std::int64_t>(options.min_step),
          .largest = static_cast<std::int64_t>(options.max_step),
          .lasts = options.outage_budget};
}

/// A forked child must not destroy what the parent's threads may be using at the moment of the fork.
void give_up(std::shared_ptr<SegmentSupply> supply) {
  if (supply && !supply->is_here()) base::keep_for_ever(new std::shared_ptr<SegmentSupply>(std::move(supply)));
}

IdRange range_at(std::uint64_t first, std::size_t count) { return {first, count}; }

}  // namespace

Segment::Segment(Client& client, const LockName& name, SegmentOptions options) : name_(name) {
  const StepRule::Bounds bounds = checked_bounds(name, options);
  auto counter = make_counter("counter", name, options.counter);
  check_store(client, "segment", name, options.counter.require_durable);
  supply_ = std::make_shared<SegmentSupply>(
      std::move(counter), std::make_shared<AsyncRegister>(client, register_of("counter", name)), bounds);
  window_ = &supply_->window();  // NOLINT(cppcoreguidelines-prefer-member-initializer): there was no supply before
}

Segment::~Segment() { give_up(std::move(supply_)); }

std::optional<std::uint64_t> Segment::try_take(std::uint64_t count) { return supply_->try_take(count); }

std::uint64_t Segment::take(std::uint64_t count, std::stop_token stop) {
  return value_or_throw<std::uint64_t>(*supply_->take(count, base::Instant::max(), stop, false));
}

std::optional<std::uint64_t> Segment::next_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  const base::Instant deadline = base::saturating_add(base::BootClock::now(), wait);
  auto answer = supply_->take(1, deadline, stop, true);
  if (!answer) return std::nullopt;
  return value_or_throw<std::uint64_t>(std::move(*answer));
}

IdRange Segment::reserve(std::size_t count, std::stop_token stop) {
  checked_count(count, supply_->counter());
  if (const auto first = window_->take(count)) return range_at(*first, count);
  return range_at(take(count, std::move(stop)), count);
}

std::optional<IdRange> Segment::try_reserve(std::size_t count) {
  checked_count(count, supply_->counter());
  auto first = window_->take(count);
  if (!first) first = supply_->try_take(count);
  if (!first) return std::nullopt;
  return range_at(*first, count);
}

void Segment::async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  const auto called = std::make_shared<CalledOnce<std::uint64_t>>(std::move(callback));
  called->obey(std::move(stop));
  if (!called->is_called()) supply_->take_later(called);
}

Traits Segment::traits() noexcept {
  return {.kind = "segment",
          .unique_by = "a counter in the store",
          .order = Order::process,
          .carries_time = false,
          .in_an_outage = "it goes on with what it has at hand, for the outage budget"};
}

SegmentMetrics Segment::metrics() const { return supply_->metrics(); }

const LockName& Segment::name() const noexcept { return name_; }

struct Segment::Local::State {
  explicit State(std::shared_ptr<SegmentSupply> its_supply)
      : supply(std::move(its_supply)), chunk(memory.make<Chunk>()) {}

  std::shared_ptr<SegmentSupply> supply;
  WipedMemory memory;
  Chunk& chunk;
};

Segment::Local::Local(Segment& segment) : state_(std::make_unique<State>(segment.supply_)), chunk_(&state_->chunk) {}

Segment::Local::~Local() {
  if (state_->supply->is_here()) state_->supply->burn(chunk_->end - chunk_->next);
  give_up(std::move(state_->supply));
}

bool Segment::Local::try_take_chunk() {
  SegmentSupply& supply = *state_->supply;
  std::uint64_t first = 0;
  if (const std::uint64_t taken = supply.window().take_up_to(supply.chunk(), first); taken > 0) {
    *chunk_ = {.next = first, .end = first + taken};
    return true;
  }
  const auto one = supply.try_take(1);
  if (one) *chunk_ = {.next = *one, .end = *one + 1};
  return one.has_value();
}

std::uint64_t Segment::Local::take_chunk(const std::stop_token& stop) {
  if (try_take_chunk()) return chunk_->next++;
  return value_or_throw<std::uint64_t>(*state_->supply->take(1, base::Instant::max(), stop, false));
}

}  // namespace holdfast::ids
