#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "holdfast/export.hpp"
#include "holdfast/ids/randomness.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/ids/uuid.hpp"

namespace holdfast::ids {

/// How a Uuid7 works. This is an aggregate: name the members that you change.
struct Uuid7Options {
  /// Order::process or Order::thread. Threads that share a process-ordered generator work on one word of memory; with
  /// Order::thread each has its own, which all thread-ordered generators share.
  Order order = Order::process;
  Randomness randomness = Randomness::secure;
  /// For Order::thread: next() reads the clock for every so many ids of a thread only, 1 to 4,096. With more than 1 it is
  /// faster, but a thread that makes ids seldom then puts into them the time of earlier ones.
  int ids_per_reading = 1;
  /// For tests: what is asked for the time instead of the system's clock.
  std::chrono::sys_time<std::chrono::milliseconds> (*now)() noexcept = nullptr;
};

/// Makes UUIDs of version 7: 48 bits of milliseconds since 1970, a counter of 20 bits, and 54 random bits.
///
///     Uuid7 ids;
///     const Uuid id = ids.next();
///     id.time();  // about now
///
/// Ids rise strictly, as far as Uuid7Options::order promises it. The counter begins each millisecond at a random number
/// below 2^19 (RFC 9562, section 6.2, method 1), so that two processes in the same millisecond differ by 73 random bits
/// rather than 54. If the clock is set back, ids go on rising in the last millisecond, and in those that follow it once
/// its counter is used up, until the clock has caught up; if it was ahead for a while, ids stay ahead for as long.
///
/// The time is that of CLOCK_REALTIME_COARSE, which is up to one tick of the kernel behind (1 to 10 ms). Above 524
/// million ids per second, ids may be ahead of the clock.
///
/// All functions may be called by several threads at once, and by a forked child, whose ids differ from its parent's but
/// are not in order with those that the parent made before. None blocks, needs a store, or allocates memory, but for
/// about 4 KB in the first call of a thread. They must not be called by a signal handler.
class HOLDFAST_EXPORT Uuid7 {
 public:
  /// Throws Errc::invalid_argument for options that it does not have, and Errc::exhausted if there is no memory.
  explicit Uuid7(const Uuid7Options& options = {});
  ~Uuid7();
  Uuid7(const Uuid7&) = delete;
  Uuid7& operator=(const Uuid7&) = delete;

  /// Throws Errc::exhausted if the kernel has no memory or no random numbers, and Errc::end_of_life from the year 2527
  /// on.
  Uuid next();
  /// Fills all of `ids` in ascending order, faster than one by one; reads the clock for every 4,096 of them. Throws as
  /// next() does.
  void fill(std::span<Uuid> ids);

  Traits traits() const noexcept;

 private:
  class Maker;
  const std::unique_ptr<Maker> maker_;
};

}  // namespace holdfast::ids
