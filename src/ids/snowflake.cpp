#include "holdfast/ids/snowflake.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/fork.hpp"
#include "base/instant.hpp"
#include "ids/snowflake_keeper.hpp"
#include "ids/thread_stock.hpp"

namespace holdfast::ids {

using base::BootClock;
using base::Instant;
using Patience = SnowflakeKeeper::Patience;
using Taken = SnowflakeKeeper::Taken;

namespace {

/// How many ids a thread takes at a time: 64 of a tick's 4,096.
std::uint32_t stock_of(const SnowflakeLayout& layout) noexcept {
  return std::clamp<std::uint32_t>(layout.sequences() / 64, 1, 256);
}

/// How old the ids of a stock may become, in ticks.
std::int64_t oldest_in_stock(const SnowflakeLayout& layout) noexcept {
  constexpr std::chrono::milliseconds oldest(2);
  return oldest / layout.tick();
}

ThreadStock& stock_for(const SnowflakeKeeper& keeper) noexcept {
  return ThreadStock::of(reinterpret_cast<std::uintptr_t>(&keeper) / sizeof(SnowflakeKeeper));
}

/// Leaves the stock of this thread out, because what is taken next is larger.
void burn_stock(SnowflakeKeeper& keeper) noexcept {
  ThreadStock& stock = stock_for(keeper);
  const Grant* const grant = keeper.grant();
  if (grant != nullptr && stock.serial == grant->serial()) keeper.count_burnt(stock.end - stock.next);
  stock = {};
}

/// From the stock of this thread, which is filled when it is empty or too old. Its ids lie in one tick.
Taken take_from_stock(SnowflakeKeeper& keeper) noexcept {
  const Grant* const grant = keeper.grant();
  if (grant == nullptr) return {};
  ThreadStock& stock = stock_for(keeper);
  const SnowflakeLayout& layout = keeper.options().layout;
  const std::uint64_t serial = grant->serial();
  if (stock.serial == serial && stock.next < stock.end &&
      keeper.clock().coarse() - stock.tick <= oldest_in_stock(layout)) {
    return {Outcome::issued, stock.next++, stock.worker};
  }
  burn_stock(keeper);
  const std::uint32_t count = stock_of(layout);
  const Taken taken = keeper.try_take(count);
  // If the grant was replaced meanwhile, all but the first are left out.
  if (taken.outcome == Outcome::issued && keeper.grant() == grant) {
    stock = {.serial = serial,
             .next = taken.position + 1,
             .end = taken.position + count,
             .tick = static_cast<std::int64_t>(taken.position >> static_cast<unsigned>(layout.fields().sequence_bits)),
             .worker = taken.worker};
  }
  return taken;
}

bool has_stocks(const SnowflakeKeeper& keeper) noexcept { return keeper.options().order == Order::thread; }

Taken try_take_one(SnowflakeKeeper& keeper) noexcept {
  return has_stocks(keeper) ? take_from_stock(keeper) : keeper.try_take(1);
}

IdRange range_of(const SnowflakeLayout& layout, const Taken& taken, std::uint32_t count) {
  return {taken.position,
          count,
          {.low_bits = static_cast<unsigned>(layout.fields().sequence_bits),
           .inserted_bits = static_cast<unsigned>(layout.fields().worker_bits),
           .inserted = taken.worker}};
}

void check_count(const SnowflakeLayout& layout, std::uint32_t count) {
  if (count >= 1 && count <= layout.sequences()) return;
  throw Error(Errc::invalid_argument, "this layout has 1 to " + std::to_string(layout.sequences()) +
                                          " ids at a time to reserve, got " + std::to_string(count));
}

}  // namespace

Snowflake::Snowflake(Client& client, const LockName& pool, SnowflakeOptions options)
    : keeper_(std::make_unique<SnowflakeKeeper>(client, pool, std::move(options))) {}

Snowflake::~Snowflake() {
  // In a forked child, it belongs to the parent process.
  if (keeper_ && !keeper_->belongs_to_this_process()) base::keep_for_ever(keeper_.release());
}

std::optional<std::uint64_t> Snowflake::try_next() {
  const Taken taken = try_take_one(*keeper_);
  if (taken.outcome == Outcome::issued) return keeper_->id_of(taken.position, taken.worker);
  keeper_->could_not(taken.outcome);
  return std::nullopt;
}

std::uint64_t Snowflake::next(std::stop_token stop) {
  Taken taken = try_take_one(*keeper_);
  if (taken.outcome != Outcome::issued) taken = *keeper_->take(1, Instant::max(), Patience::while_all_is_well, stop);
  return keeper_->id_of(taken.position, taken.worker);
}

std::optional<std::uint64_t> Snowflake::next_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  std::optional<Taken> taken = try_take_one(*keeper_);
  if (taken->outcome != Outcome::issued) {
    const bool for_ever = wait == std::chrono::nanoseconds::max();
    const Instant deadline = for_ever ? Instant::max() : base::saturating_add(BootClock::now(), wait);
    taken = keeper_->take(1, deadline, Patience::until_deadline, stop);
  }
  if (!taken) return std::nullopt;
  return keeper_->id_of(taken->position, taken->worker);
}

void Snowflake::async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  keeper_->take_later(std::move(callback), std::move(stop));
}

IdRange Snowflake::reserve(std::uint32_t count, std::stop_token stop) {
  check_count(layout(), count);
  if (has_stocks(*keeper_)) burn_stock(*keeper_);
  const auto taken = keeper_->take(count, Instant::max(), Patience::while_all_is_well, stop);
  return range_of(layout(), *taken, count);
}

std::optional<IdRange> Snowflake::try_reserve(std::uint32_t count) {
  check_count(layout(), count);
  if (has_stocks(*keeper_)) burn_stock(*keeper_);
  const Taken taken = keeper_->try_take(count);
  if (taken.outcome == Outcome::issued) return range_of(layout(), taken, count);
  keeper_->could_not(taken.outcome);
  return std::nullopt;
}

const SnowflakeLayout& Snowflake::layout() const noexcept { return keeper_->options().layout; }

Traits Snowflake::traits() const noexcept { return keeper_->traits(); }

SnowflakeMetrics Snowflake::metrics() const { return keeper_->metrics(); }

void Snowflake::close() noexcept { keeper_->close(); }

}  // namespace holdfast::ids
