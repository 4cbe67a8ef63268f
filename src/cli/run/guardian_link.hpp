#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/instant.hpp"
#include "cli/run/loss_times.hpp"

namespace holdfast::cli {

/// What tool and guardian tell each other, on one machine and from one build: plain structs over a pair of
/// SOCK_SEQPACKET sockets. When either end dies, the other reads the end of the stream.

/// From the tool.
struct Order {
  enum class Kind {
    start,    ///< run the command: `token`, `holder`, and the descriptors of the lifeline
    forward,  ///< pass `signal` on to it
    lost,     ///< the lock is gone: end it
  };

  Kind kind = Kind::start;
  int signal = 0;
  std::uint64_t token = 0;
  std::array<char, 64> holder = {};
};

/// Sends an order with copies of some descriptors, `most_descriptors` at most. False if the guardian is dead.
bool send_order(int link, const Order& order, std::span<const int> descriptors = {});
/// Waits for an order, whose `holder` ends with a NUL whatever was sent. False if the tool is dead, or what came is no
/// order.
bool receive_order(int link, Order& order, std::vector<base::FileDescriptor>& descriptors);
inline constexpr std::size_t most_descriptors = 4;

/// From the guardian, once, as the last thing it does.
struct Ended {
  enum class Cause {
    by_itself,       ///< the command ended; `status` says how
    lease_ended,     ///< it was stopped because the lease was about to end
    max_hold_ended,  ///< it was stopped because the lock may not be held for longer
    lock_lost,       ///< it was stopped because the tool said that the lock was gone
  };

  Cause cause = Cause::by_itself;
  int status = 0;                          ///< as waitpid() gives it
  int exec_error = 0;                      ///< errno, if the command could not be started at all
  bool left_children = false;              ///< it ended by itself and left processes running
  std::array<char, 256> not_started = {};  ///< why nothing was started, in words; empty if something was
};

/// Memory that tool, guardian and, until it is the command, the command's process share.
struct SharedState {
  /// V, on the boot clock, and when the command is to be asked to end because of it (LossTimes). Only the tool writes
  /// them, V first; the guardian reads them whenever they matter, without asking.
  std::atomic<base::BootClock::rep> valid_until{0};
  std::atomic<base::BootClock::rep> notice_at{0};
  /// M, the end of `--max-hold`, likewise; written once, before the command starts.
  std::atomic<base::BootClock::rep> max_hold_until{base::Instant::max().time_since_epoch().count()};
  std::atomic<int> exec_error{0};

  LossTimes::Ends ends() const {
    const auto instant = [](base::BootClock::rep count) { return base::Instant(base::Duration(count)); };
    return {.lease = instant(valid_until), .lease_notice = instant(notice_at), .max_hold = instant(max_hold_until)};
  }
};
static_assert(std::atomic<base::BootClock::rep>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

}  // namespace holdfast::cli
