#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/counter_metrics.hpp"
#include "holdfast/ids/range.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/name.hpp"

namespace holdfast::ids {

class SegmentSupply;

/// How a Segment takes numbers from its counter. This is an aggregate: name the members that you change.
struct SegmentOptions {
  CounterOptions counter = {};

  /// For how long there are ids while the store cannot be reached. The generator asks for as many numbers at a time as
  /// it uses in this time, within the two limits that follow, and has two such segments while all is well.
  std::chrono::milliseconds outage_budget = std::chrono::minutes(1);

  /// The smallest and the largest number of ids to ask for at a time. A process that ends leaves at most twice the
  /// largest unused, and they are lost.
  std::uint64_t min_step = 100;
  std::uint64_t max_step = 100'000'000;
};

struct SegmentMetrics {
  CounterMetrics counter = {};
  std::uint64_t at_hand = 0;                 ///< ids that need no request to the store
  std::uint64_t step = 0;                    ///< how many were asked for the last time
  std::chrono::milliseconds lasts_for = {};  ///< how long those at hand last at the present rate; zero if not known
  std::uint64_t refills = 0;                 ///< requests that were answered with numbers
  std::uint64_t waits = 0;                   ///< calls that had to wait for the store
};

/// What may be issued without looking further: the numbers from `next` to before `end`. In a forked child both are 0.
///
/// Each segment lies above the one before it, and neither word ever goes back. Whoever changes the segment writes `next`
/// first, and whoever takes reads it first: a number of the old segment beside the end of the new one is then no longer
/// the value of `next`, and cannot be taken.
class SegmentWindow {
 public:
  std::optional<std::uint64_t> take(std::uint64_t count) noexcept {
    std::uint64_t first = next_.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t end = end_.load(std::memory_order_acquire);
      if (end < first || end - first < count) return std::nullopt;
      if (next_.compare_exchange_weak(first, first + count, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return first;
      }
    }
  }
  /// As many as there are, up to `count`; how many that were.
  std::uint64_t take_up_to(std::uint64_t count, std::uint64_t& first) noexcept {
    first = next_.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t end = end_.load(std::memory_order_acquire);
      if (end <= first) return 0;
      const std::uint64_t taken = end - first < count ? end - first : count;
      if (next_.compare_exchange_weak(first, first + taken, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return taken;
      }
    }
  }

  // One thread at a time.
  std::uint64_t next() const noexcept { return next_.load(std::memory_order_acquire); }
  std::uint64_t end() const noexcept { return end_.load(std::memory_order_acquire); }
  void open_until(std::uint64_t end) noexcept { end_.store(end, std::memory_order_release); }
  /// Goes on at `first`, with nothing to take yet. Returns what `next` was. REQUIRES: first >= end().
  std::uint64_t go_on_at(std::uint64_t first) noexcept { return next_.exchange(first, std::memory_order_acq_rel); }

 private:
  alignas(64) std::atomic<std::uint64_t> next_ = 0;
  alignas(64) std::atomic<std::uint64_t> end_ = 0;
};

/// Ids from a counter that is asked for many at a time: no request, and no waiting, for nearly every id.
///
///     holdfast::ids::Segment orders(client, "order");
///     const std::uint64_t id = orders.next();
///
/// While one segment is used, the next one has been fetched in the background, by one request at a time. How many
/// numbers it has follows from the rate at which they are used and from SegmentOptions::outage_budget.
///
/// Ids rise for each generator, whichever threads use it (Order::process). Those of different processes lie beside each
/// other. What a process does not use, because it ended or because an answer of the store was lost, nobody uses: there
/// are gaps, and never repetitions. All generators of a name share one counter with AutoIncrement of that name.
///
/// Errors as described for AutoIncrement; ids that are at hand are issued before any error. Thread-safe. A generator may
/// outlive its Client, and then issues what it has at hand. In a forked child it issues nothing: every call answers
/// Errc::forked.
class HOLDFAST_EXPORT Segment {
 public:
  class Local;

  /// Does not contact the store. Throws Errc::invalid_argument if the name or the options are invalid.
  Segment(Client& client, const LockName& name, SegmentOptions options = {});
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// An id if there is one at hand. Never waits; if more numbers are due, they are asked for in the background.
  std::optional<std::uint64_t> try_next() {
    if (const auto id = window_->take(1)) return id;
    return try_take(1);
  }
  /// Waits for the store only if no id is at hand. Throws the reason if no id can be had now.
  std::uint64_t next(std::stop_token stop = {}) {
    if (const auto id = window_->take(1)) return *id;
    return take(1, std::move(stop));
  }
  /// Keeps trying through an outage of the store. Returns empty if there was no id in time.
  template <class Rep, class Period>
  std::optional<std::uint64_t> next_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return next_within(detail::saturated(duration), std::move(stop));
  }
  template <class Clock, class Duration>
  std::optional<std::uint64_t> next_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                          std::stop_token stop = {}) {
    return next_within(detail::time_until(deadline), std::move(stop));
  }
  /// `count` consecutive ids. If fewer are at hand in one piece, the piece is left out, so that ids go on rising. Throws
  /// Errc::invalid_argument if the count is 0 or not below 2^63, and Errc::end_of_life if there are fewer ids left.
  IdRange reserve(std::size_t count, std::stop_token stop = {});
  std::optional<IdRange> try_reserve(std::size_t count);

  /// If an id is at hand, the callback is called inside this call. Otherwise it is called once by one of the client's
  /// threads, or by the thread that triggers the stop_token.
  void async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::uint64_t> Token>
  auto async_next(Token&& token) {
    return detail::AsioFor<Token, std::uint64_t>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
          async_next(std::move(callback), std::move(stop));
        });
  }

  static Traits traits() noexcept;
  SegmentMetrics metrics() const;
  const LockName& name() const noexcept;

 private:
  std::uint64_t take(std::uint64_t count, std::stop_token stop);
  std::optional<std::uint64_t> try_take(std::uint64_t count);
  std::optional<std::uint64_t> next_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::shared_ptr<SegmentSupply> supply_;
  SegmentWindow* window_;
  LockName name_;
};

/// Ids of a Segment for one thread: it takes a chunk of numbers at a time, so that threads do not meet in every call.
///
///     holdfast::ids::Segment::Local ids(orders);  // one in each thread
///     for (Row& row : rows) row.id = ids.next();
///
/// Its ids rise, but nothing is promised about those of different threads (Order::thread). What is left of the last chunk
/// is lost. Not thread-safe. It may outlive the Segment. In a forked child it issues nothing.
class HOLDFAST_EXPORT Segment::Local {
 public:
  explicit Local(Segment& segment);
  ~Local();
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;

  std::uint64_t next(const std::stop_token& stop = {}) {
    if (chunk_->next != chunk_->end) [[likely]] {
      return chunk_->next++;
    }
    return take_chunk(stop);
  }
  std::optional<std::uint64_t> try_next() {
    if (chunk_->next != chunk_->end || try_take_chunk()) [[likely]] {
      return chunk_->next++;
    }
    return std::nullopt;
  }

 private:
  /// In memory that a forked child finds wiped.
  struct Chunk {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
  };
  struct State;

  bool try_take_chunk();
  std::uint64_t take_chunk(const std::stop_token& stop);

  std::unique_ptr<State> state_;
  Chunk* chunk_;
};

}  // namespace holdfast::ids
