#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/instant.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "ids/issuer.hpp"
#include "ids/later_calls.hpp"
#include "ids/pool_registers.hpp"
#include "ids/tick_clock.hpp"

namespace holdfast::ids {

/// What a Snowflake consists of: an Issuer, a thread that does what it says, and the calls that wait for it.
///
/// The issuer's decisions and what waits for them are guarded by one mutex; issuing takes none.
class SnowflakeKeeper {
 public:
  SnowflakeKeeper(Client& client, const LockName& pool, SnowflakeOptions options);
  /// close(). Not in a forked child: there it must be kept for ever.
  ~SnowflakeKeeper();
  SnowflakeKeeper(const SnowflakeKeeper&) = delete;
  SnowflakeKeeper& operator=(const SnowflakeKeeper&) = delete;

  /// Positions that were issued, and the worker number that they belong to; or why there are none.
  struct Taken {
    Outcome outcome = Outcome::closed;
    std::uint64_t position = 0;
    std::uint32_t worker = 0;
  };
  /// Locks nothing. REQUIRES: 0 < count <= sequences().
  Taken try_take(std::uint32_t count) noexcept {
    Grant* const grant = issuer_.grant();
    if (grant == nullptr) return {};
    const Issued issued = issue(*grant, options_.layout, clock_, count);
    return {issued.outcome, issued.position, grant->worker()};
  }
  /// What to do about a call that got nothing and does not wait: throws what will not pass, and sees to it that there
  /// will be ids soon.
  void could_not(Outcome outcome);

  enum class Patience : std::uint8_t {
    while_all_is_well,  ///< throws the reason why there are no ids
    until_deadline,     ///< throws only what will not pass
  };
  /// Waits for positions. Empty at the deadline.
  std::optional<Taken> take(std::uint32_t count, base::Instant deadline, Patience patience,
                            const std::stop_token& stop);
  void take_later(AsyncCallback<std::uint64_t> callback, std::stop_token stop);

  std::uint64_t id_of(std::uint64_t position, std::uint32_t worker) const noexcept {
    const auto bits = static_cast<unsigned>(options_.layout.fields().sequence_bits);
    const std::uint64_t low = (std::uint64_t{1} << bits) - 1;
    return (position & ~low) << static_cast<unsigned>(options_.layout.fields().worker_bits) |
           std::uint64_t{worker} << bits | (position & low);
  }

  const Grant* grant() const noexcept { return issuer_.grant(); }
  const TickClock& clock() const noexcept { return clock_; }
  const SnowflakeOptions& options() const noexcept { return options_; }
  bool belongs_to_this_process() const noexcept { return issuer_.belongs_to_this_process(); }
  void count_burnt(std::uint64_t ids) noexcept { burnt_.fetch_add(ids, std::memory_order_relaxed); }

  Traits traits() const noexcept;
  SnowflakeMetrics metrics();
  void close() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr base::Duration longest_rest = std::chrono::seconds(1);  ///< somebody has to look at the clock

  static WallTime wall_now() noexcept {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  }
  void run();
  /// Does what a step says. Returns whether there is more to do.
  bool perform(Lock& lock, const WorkerLease::Step& step);
  /// Waits for a reply, unlocked; empty if it is not waited for any longer.
  template <class T, class Begin>
  std::optional<T> reply_to(Lock& lock, Begin begin);
  /// Wakes the calls that wait if there is something new for them.
  void publish();
  /// By how much the newest id is ahead of the clock.
  std::chrono::milliseconds ahead() const;
  void notice_losses(Lock& lock);
  void log(LogLevel level, const std::string& text) const;

  void check_process() const;
  /// Throws Errc::closed, and troubles that will not pass.
  void check_usable() const;
  std::optional<Taken> wait_for_news(std::uint32_t count, base::Instant deadline, Patience patience,
                                     const std::stop_token& stop);
  void wait_for_next_tick(base::Instant deadline, const std::stop_token& stop);

  const SnowflakeOptions options_;
  const std::string pool_;
  const TickClock clock_;
  const bool store_may_forget_;
  PoolRegisters registers_;
  Issuer issuer_;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> burnt_ = 0;

  /// What calls wait for.
  struct Published {
    const Grant* grant = nullptr;
    std::uint64_t limit = 0;
    std::int64_t most_ahead = 0;
    Errc trouble = {};
    bool closing = false;
    friend bool operator==(const Published&, const Published&) = default;
  };

  std::mutex mutex_;
  std::condition_variable_any changed_;  ///< calls wait here
  Published published_;
  std::uint64_t changes_ = 0;           ///< of what is published
  std::condition_variable_any needed_;  ///< the thread waits here
  bool poked_ = false;                  ///< somebody needs ids
  bool closing_ = false;
  MoveOnlyFunction<void()> interrupt_wait_;  ///< of the thread for a reply, because it is closing
  base::Instant abandon_at_ = base::Instant::max();
  std::uint64_t losses_ = 0;  ///< that were logged
  std::chrono::milliseconds time_error_ = {};

  LaterCalls later_;
  std::once_flag closed_;
  std::thread thread_;
};

}  // namespace holdfast::ids
