// The calls that want ids from a Snowflake, and what it says of itself.

#include <algorithm>
#include <string>
#include <utility>

#include "ids/snowflake_keeper.hpp"

namespace holdfast::ids {

using base::BootClock;
using base::Duration;
using base::Instant;
using std::chrono::milliseconds;

void SnowflakeKeeper::check_process() const {
  if (belongs_to_this_process()) return;
  throw Error(Errc::forked, "this generator of ids belongs to the parent process; a forked child needs one of its own");
}

void SnowflakeKeeper::check_usable() const {
  if (closing_) throw Error(Errc::closed, "the generator of the ids '" + pool_ + "' is closed");
  const std::optional<Trouble>& trouble = issuer_.trouble();
  if (trouble && trouble->final) throw Error(trouble->code, trouble->what);
}

void SnowflakeKeeper::could_not(Outcome outcome) {
  check_process();
  refused_.fetch_add(1, std::memory_order_relaxed);
  if (outcome == Outcome::spent) return;
  const Lock lock(mutex_, std::try_to_lock);  // whoever has it has just looked
  if (!lock) return;
  check_usable();
  poked_ = true;
  needed_.notify_all();
}

std::optional<SnowflakeKeeper::Taken> SnowflakeKeeper::take(std::uint32_t count, Instant deadline, Patience patience,
                                                            const std::stop_token& stop) {
  bool has_waited = false;
  for (;;) {
    const Taken taken = try_take(count);
    if (taken.outcome == Outcome::issued) return taken;
    check_process();
    if (!std::exchange(has_waited, true)) refused_.fetch_add(1, std::memory_order_relaxed);
    if (stop.stop_requested())
      throw Error(Errc::cancelled, "waiting for an id was cancelled by the caller's stop_token");
    if (taken.outcome == Outcome::spent) {
      if (deadline != Instant::max() && BootClock::now() >= deadline) return std::nullopt;
      wait_for_next_tick(deadline, stop);
      continue;
    }
    if (auto later = wait_for_news(count, deadline, patience, stop)) return later;
    if (deadline != Instant::max() && BootClock::now() >= deadline) return std::nullopt;
  }
}

/// Positions, if there are some now; otherwise waits until there may be.
std::optional<SnowflakeKeeper::Taken> SnowflakeKeeper::wait_for_news(std::uint32_t count, Instant deadline,
                                                                     Patience patience, const std::stop_token& stop) {
  Lock lock(mutex_);
  // Once more, since there may have been news until the mutex was locked; from now on none are missed.
  const Taken taken = try_take(count);
  if (taken.outcome == Outcome::issued) return taken;
  check_usable();
  if (taken.outcome == Outcome::spent) return std::nullopt;
  if (patience == Patience::while_all_is_well) {
    if (const auto& trouble = issuer_.trouble()) throw Error(trouble->code, trouble->what);
    if (taken.outcome == Outcome::clock_is_back && options_.when_set_back == WhenSetBack::refuse) {
      throw Error(Errc::wrong_clock,
                  "the clock of this host was set back; there are no ids of '" + pool_ + "' until it has caught up");
    }
  }
  poked_ = true;
  needed_.notify_all();
  const auto is_changed = [this, seen = changes_] { return changes_ != seen; };
  // A clock that was set back goes on without news: each of its ticks makes room for one of the ids'.
  const bool ticks_make_room =
      taken.outcome == Outcome::clock_is_back && options_.when_set_back == WhenSetBack::keep_order;
  const Duration rest = ticks_make_room ? Duration(options_.layout.tick()) : longest_rest;
  changed_.wait_until(lock, stop, std::min(deadline, base::saturating_add(BootClock::now(), rest)), is_changed);
  return std::nullopt;
}

void SnowflakeKeeper::wait_for_next_tick(Instant deadline, const std::stop_token& stop) {
  constexpr Duration wakes_late_by = std::chrono::microseconds(100);
  const SnowflakeLayout& layout = options_.layout;
  const WallTime now = wall_now();
  const Duration rest = layout.time_of(layout.tick_of(now) + 1) - now;
  if (rest > std::chrono::milliseconds(1)) {
    Lock lock(mutex_);
    const auto is_changed = [this, seen = changes_] { return changes_ != seen; };
    changed_.wait_until(lock, stop, std::min(deadline, base::saturating_add(BootClock::now(), rest)), is_changed);
  } else if (rest > wakes_late_by) {
    // A thread that sleeps wakes up late, and the sequence numbers of that time would be lost.
    std::this_thread::sleep_for(rest - wakes_late_by);
  } else {
    std::this_thread::yield();
  }
}

void SnowflakeKeeper::take_later(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  check_process();
  {
    const Lock lock(mutex_);
    check_usable();
  }
  later_.add(std::move(callback), std::move(stop));
}

// --- what it says of itself -----------------------------------------------------------------------------------------

Traits SnowflakeKeeper::traits() const noexcept {
  const bool as_good_as_the_store = store_may_forget_ && !options_.survive_loss;
  return {.kind = "snowflake",
          .unique_by = as_good_as_the_store
                           ? "a worker number and windows of time, as long as the store keeps what it has acknowledged"
                           : "a worker number and windows of time that are reserved in the store before they are used",
          .order = options_.order,
          .carries_time = true,
          .in_an_outage = "it goes on until the end of the window that is reserved, then there are no ids",
          .ends = std::chrono::floor<std::chrono::seconds>(options_.layout.ends())};
}

SnowflakeMetrics SnowflakeKeeper::metrics() {
  check_process();
  const Lock lock(mutex_);
  const WorkerLease::Counters& counters = issuer_.counters();
  SnowflakeMetrics metrics = {.tenures = counters.tenures,
                              .extensions = counters.extensions,
                              .lost = counters.lost,
                              .in_doubt = counters.doubts,
                              .refused = refused_.load(std::memory_order_relaxed),
                              .burnt = burnt_.load(std::memory_order_relaxed),
                              .poisoned = counters.poisoned};
  const Grant* const grant = issuer_.grant();
  const std::uint64_t next = grant == nullptr ? Grant::closed : grant->next();
  if (next < Grant::closed) {
    const auto bits = static_cast<unsigned>(options_.layout.fields().sequence_bits);
    const std::int64_t begun = std::max<std::int64_t>(clock_.exact(), static_cast<std::int64_t>(next >> bits));
    const auto limit = static_cast<std::int64_t>(grant->limit() >> bits);
    metrics.worker = grant->worker();
    metrics.window_left = std::max<std::int64_t>(limit - begun, 0) * options_.layout.tick();
  }
  metrics.ahead = ahead();
  metrics.time_error = time_error_ = std::max(time_error_, metrics.ahead);
  return metrics;
}

milliseconds SnowflakeKeeper::ahead() const {
  const Grant* const grant = issuer_.grant();
  const std::uint64_t next = grant == nullptr ? Grant::closed : grant->next();
  if (next >= Grant::closed || next == 0) return milliseconds::zero();
  const auto newest =
      static_cast<std::int64_t>((next - 1) >> static_cast<unsigned>(options_.layout.fields().sequence_bits));
  return std::max<std::int64_t>(newest - clock_.exact(), 0) * options_.layout.tick();
}

}  // namespace holdfast::ids
