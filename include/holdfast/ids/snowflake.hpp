#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/export.hpp"
#include "holdfast/ids/range.hpp"
#include "holdfast/ids/snowflake_layout.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

namespace holdfast::ids {

class SnowflakeKeeper;

/// What happens when the clock of this host was set back by more than SnowflakeOptions::max_ahead.
enum class WhenSetBack : std::uint8_t {
  keep_order,  ///< ids go on from the last one; their time stands still until the clock has caught up
  keep_time,   ///< another worker number is taken, whose ids carry the right time and are smaller than earlier ones
  refuse,      ///< there are no ids until the clock has caught up
};

/// How a Snowflake issues ids. This is an aggregate: name the members that you change.
struct SnowflakeOptions {
  SnowflakeLayout layout = {};

  /// How many worker numbers the pool has; 0 stands for as many as the layout has room for. All processes of a pool
  /// must say the same here and in `layout`, `window`, `survive_loss` and `guard`, which is checked.
  std::uint32_t workers = 0;

  /// Order::process: every id is larger than those of calls that have returned before, whichever threads made them.
  /// Order::thread: that is promised to each thread for its own calls only, and threads do not get into each other's
  /// way, because each takes a small stock of ids at a time.
  Order order = Order::process;

  /// How far ahead ids are reserved in the store. For so long there are ids while the store cannot be reached, and for
  /// so long the worker number of a process that was killed stays unused. 1 s to 1 h, and at least four ticks of the layout.
  std::chrono::milliseconds window = std::chrono::seconds(10);

  /// By how much this host's clock may be ahead of the store's, and how far ids may be ahead of this host's clock after
  /// it was set back. At most half of the window.
  std::chrono::milliseconds max_ahead = std::chrono::seconds(2);
  WhenSetBack when_set_back = WhenSetBack::keep_order;

  /// Keeps ids unique even if the store forgets writes that it has acknowledged, as long as the clocks of all hosts
  /// differ by less than `guard`. A process then waits for a window and the guard before it issues its first id.
  bool survive_loss = false;
  std::chrono::milliseconds guard = std::chrono::seconds(2);
  /// Refuses a store that may forget what it has acknowledged (StoreTraits::failover_may_lose): the constructor throws
  /// Errc::unsupported.
  bool require_durable = false;

  /// Receives messages that a person may want to read: what is promised on a store that may forget, a worker number that
  /// was lost. It is called on a thread of the generator, must not throw, and must not destroy the generator.
  std::function<void(LogLevel, std::string_view)> log = {};
};

/// A generator's state, for monitoring.
struct SnowflakeMetrics {
  std::optional<std::uint32_t> worker = {};  ///< the worker number in use
  std::chrono::milliseconds window_left =
      {};                                     ///< for how long there are ids if the store cannot be reached from now on
  std::chrono::milliseconds ahead = {};       ///< how far the newest id is ahead of this host's clock
  std::chrono::milliseconds time_error = {};  ///< the largest that `ahead` has been
  std::uint64_t tenures = 0;                  ///< worker numbers taken so far
  std::uint64_t extensions = 0;               ///< of windows
  std::uint64_t lost = 0;                     ///< worker numbers that were lost: somebody else has them now
  std::uint64_t in_doubt = 0;                 ///< writes that the store did not answer
  std::uint64_t refused = 0;                  ///< calls that got no id at once
  std::uint64_t burnt = 0;                    ///< ids in the stocks of threads that became too old (Order::thread)
  std::uint64_t poisoned = 0;                 ///< numbers of the pool that a wrong clock has reserved for long
};

/// Unique 64-bit ids that carry the time of their creation, without asking the store for each of them.
///
///     holdfast::ids::Snowflake orders(client, "orders");
///     const std::uint64_t id = orders.next();
///     const auto created = orders.layout().decode(id).time;
///
/// An id consists of a time, a worker number and a sequence number (SnowflakeLayout). Each process takes a worker number
/// of the pool and reserves windows of time for it in the store, always before it issues ids of them; a successor starts
/// after the end of the last window. So two processes never issue the same id, whatever is paused, killed, cut off or
/// set back; that a clone of a machine repeats ids is possible until one of the two extends its window, a few seconds at
/// most. On a store that may forget what it has acknowledged (StoreTraits::failover_may_lose), the promise is as good as
/// the store, unless SnowflakeOptions::survive_loss is set.
///
/// A generator takes its worker number in the background, extends its window at half time, even while nobody wants
/// ids, and gives the number back when it is destroyed. It has a thread for that, and one more once async_next() was
/// called. It contacts the store for nothing else.
///
/// | error | |
/// |---|---|
/// | exhausted | all worker numbers of the pool are in use |
/// | unreachable, access_denied, ... | the store cannot be reached or refuses, and the window has come to its end |
/// | wrong_clock | this host's clock is too far ahead of the store's, or before the layout's epoch |
/// | invalid_argument | the pool has another layout, number of workers, window or guard than this process |
/// | end_of_life | the layout has no later time, ever |
/// | closed, forked | the generator or its client was closed; this is a forked child, which needs a generator of its own |
///
/// Thread-safe. It may outlive its Client; there are no more ids then.
class HOLDFAST_EXPORT Snowflake {
 public:
  /// Begins to take a worker number of `pool`, in the background. `pool` has at most 480 bytes; its state are the
  /// registers `id/POOL` and `id/POOL/0`, `id/POOL/1` and so on. Throws Errc::invalid_argument if an option is invalid,
  /// and Errc::unsupported if the store has no registers, or is refused by `require_durable`.
  Snowflake(Client& client, const LockName& pool, SnowflakeOptions options = {});
  /// Gives the worker number back; waits for at most two seconds. Not from inside a callback of async_next().
  ~Snowflake();
  Snowflake(const Snowflake&) = delete;
  Snowflake& operator=(const Snowflake&) = delete;

  /// An id, if there is one now. Neither waits nor contacts the store. Throws errors that will not pass: closed, forked,
  /// end_of_life, invalid_argument.
  std::optional<std::uint64_t> try_next();

  /// Waits while a worker number is being taken, and for the next tick if the sequence numbers of this one are used up.
  /// Throws the reason if there is none now.
  std::uint64_t next(std::stop_token stop = {});
  /// The same with a time limit: goes on waiting while the store cannot be reached or all worker numbers are in use.
  /// Empty if there was no id in time. Throws Errc::cancelled, and errors that will not pass.
  template <class Clock, class Duration>
  std::optional<std::uint64_t> next_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                          std::stop_token stop = {}) {
    return next_within(detail::time_until(deadline), std::move(stop));
  }
  template <class Rep, class Period>
  std::optional<std::uint64_t> next_for(const std::chrono::duration<Rep, Period>& duration, std::stop_token stop = {}) {
    return next_within(detail::saturated(duration), std::move(stop));
  }

  /// Calls back with an id, or with the error that next() would have thrown. Callbacks are called one after the other,
  /// on a thread of the generator.
  void async_next(AsyncCallback<std::uint64_t> callback, std::stop_token stop = {});
  template <detail::CompletionToken<std::uint64_t> Token>
  auto async_next(Token&& token) {
    return detail::AsioFor<Token, std::uint64_t>::initiate(
        std::forward<Token>(token), [this](AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
          async_next(std::move(callback), std::move(stop));
        });
  }

  /// `count` ids that follow each other and are of the same tick. Throws Errc::invalid_argument unless `count` is between
  /// 1 and layout().sequences(). Otherwise like next() and try_next().
  IdRange reserve(std::uint32_t count, std::stop_token stop = {});
  std::optional<IdRange> try_reserve(std::uint32_t count);

  const SnowflakeLayout& layout() const noexcept;
  Traits traits() const noexcept;
  SnowflakeMetrics metrics() const;

  /// Gives the worker number back. Calls that wait, and all later ones, answer Errc::closed. The destructor does it, too.
  void close() noexcept;

 private:
  std::optional<std::uint64_t> next_within(std::chrono::nanoseconds wait, std::stop_token stop);

  std::unique_ptr<SnowflakeKeeper> keeper_;
};

}  // namespace holdfast::ids
