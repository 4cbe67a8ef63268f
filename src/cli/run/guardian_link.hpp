#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "cli/boot_clock.hpp"

namespace holdfast::cli {

/// What tool and guardian tell each other, on one machine and from one build: plain structs over a pair of
/// SOCK_SEQPACKET sockets. When either end dies, the other reads the end of the stream.

/// From the tool.
struct Order {
  enum class Kind {
    start,    ///< run the command: `token`, `holder`
    forward,  ///< pass `signal` on to it
    lost,     ///< the lock is gone: end it
  };

  Kind kind = Kind::start;
  int signal = 0;
  std::uint64_t token = 0;
  std::array<char, 64> holder = {};
};

/// From the guardian, once, as the last thing it does.
struct Ended {
  enum class Cause {
    by_itself,    ///< the command ended; `status` says how
    lease_ended,  ///< it was stopped because the lease was about to end
    turn_ended,   ///< it was stopped because the lock may not be held for longer
    lock_lost,    ///< it was stopped because the tool said that the lock was gone
  };

  Cause cause = Cause::by_itself;
  int status = 0;              ///< as waitpid() gives it
  int exec_error = 0;          ///< errno, if the command could not be started at all
  bool left_children = false;  ///< it ended by itself and left processes running
};

/// Memory that tool, guardian and, until it is the command, the command's process share.
struct SharedState {
  /// V, on the BootClock. Only the tool writes it; the guardian reads it whenever it matters, without asking.
  std::atomic<BootClock::rep> valid_until{0};
  /// M, the end of `--max-hold`, likewise; written once, before the command starts.
  std::atomic<BootClock::rep> turn_until{BootClock::time_point::max().time_since_epoch().count()};
  std::atomic<int> exec_error{0};
};
static_assert(std::atomic<BootClock::rep>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

}  // namespace holdfast::cli
