#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "holdfast/error.hpp"

namespace holdfast {

enum class LogLevel { debug, info, warning, error };

/// How a client behaves. An aggregate: name the members you change.
///
///     holdfast::Client client("memory:", {.label = "billing", .connect_timeout = std::chrono::seconds(2)});
struct ClientOptions {
  /// Shown to whoever lists the locks, beside host and pid.
  std::string label = {};

  /// Shown likewise, as what the client is running. Empty: the name of this process. Not its arguments: they may hold
  /// secrets.
  std::string command = {};

  /// The first contact with the store succeeds within this time, or the call answers `unreachable`.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);

  /// How long close() and the destructor wait for the store to confirm the last releases. At most a tenth of a second
  /// if the store has never answered: then nothing was granted that could be given back.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(2);

  /// How often a lock may be handed from one waiter of this client to the next (at most 255, and for at most the
  /// smaller of ttl / 10 and 50 ms) before other clients get their turn. 0 switches local hand-over off and makes
  /// tokens the store's bare numbers; never mix both settings on one resource.
  std::uint8_t local_turns = 64;

  /// Receives what a person may want to read. Called on threads of the client's own, possibly on several at once; may
  /// block, may call Holdfast, must not throw.
  std::function<void(LogLevel, std::string_view)> log = {};

  /// Receives errors that no call could report: an unlock() that was not confirmed, an unlock() by a stranger.
  /// Called like `log`. (Both are std::function, unlike all other callbacks, so that options can be copied.)
  std::function<void(const Error&)> on_error = {};
};

/// `renewed`: kept alive until released. `fixed`: ends after its ttl unless extend()ed.
enum class LeaseKind : std::uint8_t { renewed, fixed };

/// How a lock is held. An aggregate: name the members you change.
///
///     holdfast::Mutex mutex(client, "report", {.ttl = std::chrono::seconds(30), .reason = "nightly report"});
struct LockOptions {
  static constexpr std::chrono::milliseconds min_ttl = std::chrono::milliseconds(20);
  static constexpr std::chrono::milliseconds max_ttl = std::chrono::hours(24 * 30);

  /// The lease: how long the lock outlives a holder that crashed. From min_ttl to max_ttl. A store that cannot give so
  /// short a lease gives a longer one: see StoreTraits::min_ttl and Hold::lease().
  std::chrono::milliseconds ttl = std::chrono::seconds(10);

  LeaseKind lease = LeaseKind::renewed;

  /// The hold is given up, and its holder told it is lost, after this time. Zero: no limit.
  std::chrono::milliseconds max_hold = std::chrono::milliseconds::zero();

  /// How long the lock stays closed to everybody after an unclean end: its holder crashed, was cut off, held it for
  /// longer than max_hold, or closed its client without releasing it. Time for what the old holder has sent to arrive,
  /// where the resource cannot check tokens. Counts from the end of the lease; a release, and an operator who breaks
  /// the lock, open it at once. Errc::unsupported where the store cannot do it (StoreTraits::lock_delay).
  std::chrono::milliseconds lock_delay = std::chrono::milliseconds::zero();

  /// Why the lock is taken; shown to whoever lists the locks. At most 1,024 bytes.
  std::string reason = {};
};

}  // namespace holdfast
