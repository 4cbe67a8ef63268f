#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/callback.hpp"
#include "base/instant.hpp"
#include "holdfast/ids/segment.hpp"
#include "ids/calls.hpp"
#include "ids/counter.hpp"
#include "ids/step_rule.hpp"
#include "ids/wiped_memory.hpp"

namespace holdfast::ids {

/// The numbers of a Segment: the segment in use, the next one, and the request for more.
///
///     in use    numbers are taken from the window; sixteenth by sixteenth is opened in it
///     next      fetched as soon as its place is free, so the store may be away for one whole segment
///     refill    one request at a time; after a failure it is repeated with pauses
///
/// Nothing runs by itself: the calls that find the window empty, a sixteenth of a segment apart at the latest, look
/// whether a refill is due. Its answer arrives on a thread of the client. Thread-safe.
class SegmentSupply : public std::enable_shared_from_this<SegmentSupply> {
 public:
  using Clock = base::Callback<base::Instant()>;

  SegmentSupply(
      std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source, const StepRule::Bounds& bounds,
      Clock clock = [] { return base::BootClock::now(); });
  ~SegmentSupply();

  SegmentWindow& window() noexcept { return *window_; }
  const Counter& counter() const noexcept { return *counter_; }
  /// How many numbers a thread may take at once: few enough that what threads leave unused does not matter.
  std::uint64_t chunk() const noexcept { return chunk_; }
  /// Whether this is the process in which it was made. Nothing but this may be asked in another one.
  bool is_here() const noexcept { return memory_.belongs_to_this_process(); }

  /// The first of `count` consecutive numbers, if there are so many at hand.
  std::optional<std::uint64_t> try_take(std::uint64_t count);
  /// Waits for them; until the next failure of the store, or, `through_outages`, until the deadline.
  std::optional<Answer<std::uint64_t>> take(std::uint64_t count, base::Instant deadline, const std::stop_token& stop,
                                            bool through_outages);
  void take_later(const std::shared_ptr<CalledOnce<std::uint64_t>>& caller);
  /// Numbers that were taken, and will not be issued.
  void burn(std::uint64_t count) noexcept;

  SegmentMetrics metrics() const;

 private:
  using Calls = std::vector<std::pair<std::shared_ptr<CalledOnce<std::uint64_t>>, Answer<std::uint64_t>>>;

  struct Refill {
    std::int64_t count;
    std::int64_t at_least;
  };

  std::optional<Failure> why_not_here() const;

  // With the mutex locked.
  std::optional<std::uint64_t> at_hand(std::uint64_t count);
  void change_segment();
  /// The request to make now, if one is due.
  std::optional<Refill> begin_refill(std::uint64_t wanted, bool at_once);
  Calls served();
  std::uint64_t left() const noexcept;

  // With the mutex free.
  void refill(const Refill& refill);
  void refilled(Answer<Numbers> answer);

  const std::shared_ptr<Counter> counter_;
  const std::shared_ptr<CounterRegister> source_;
  mutable Clock clock_;
  WipedMemory memory_;
  SegmentWindow* const window_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  StepRule rule_;
  std::uint64_t segment_end_ = 0;
  std::uint64_t stride_ = 1;
  std::optional<Numbers> next_;
  bool refilling_ = false;
  bool somebody_waits_ = false;
  base::Instant refill_began_ = {};
  base::Instant retry_at_ = {};
  base::Duration pause_ = {};
  std::uint64_t answers_ = 0;   ///< to refills
  std::uint64_t failures_ = 0;  ///< of them
  std::optional<Failure> failure_;
  std::deque<std::shared_ptr<CalledOnce<std::uint64_t>>> callers_;
  std::uint64_t obtained_ = 0;
  std::uint64_t used_ = 0;  ///< numbers of segments that are over
  std::uint64_t waits_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> chunk_ = 1;
};

}  // namespace holdfast::ids
