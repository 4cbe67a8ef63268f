#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "holdfast/error.hpp"

namespace holdfast {

enum class LogLevel { debug, info, warning, error };

/// How a client behaves. This is an aggregate: name the members that you change.
///
///     holdfast::Client client("memory:", {.label = "billing", .connect_timeout = std::chrono::seconds(2)});
struct ClientOptions {
  /// A label that listings of the locks show beside the host and the process id.
  std::string label = {};

  /// What this client is running, as listings show it. If empty, it is the name of this process, without its arguments,
  /// which may contain secrets.
  std::string command = {};

  /// How long the first contact with the store may take. If it takes longer, the call answers `unreachable`.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);

  /// How long close() and the destructor wait for the store to confirm the last releases. They wait for at most a tenth
  /// of a second if the store has never answered, because then it has granted nothing that could be released.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(2);

  /// How many times a lock may be handed from one waiter of this client to the next before other clients get their
  /// turn: at most 255 times, and for at most ttl / 10 or 50 ms, whichever is shorter. 0 turns local hand-over off and
  /// makes tokens the bare numbers of the store. Never use both settings with one resource.
  std::uint8_t local_turns = 64;

  /// Receives messages that a person may want to read. It is called on the client's own threads, possibly on several at
  /// once. It may block and may call Holdfast, but must not throw.
  std::function<void(LogLevel, std::string_view)> log = {};

  /// Receives errors that no call could report, such as an unlock() that the store did not confirm, or one by a thread
  /// that did not hold the lock. It is called like `log`. (Both are std::function, unlike all other callbacks, because
  /// options can be copied.)
  std::function<void(const Error&)> on_error = {};
};

/// `renewed`: the lease is renewed until the lock is released. `fixed`: the lease ends after its ttl unless extend() is
/// called.
enum class LeaseKind : std::uint8_t { renewed, fixed };

/// How a lock is held. This is an aggregate: name the members that you change.
///
///     holdfast::Mutex mutex(client, "report", {.ttl = std::chrono::seconds(30), .reason = "nightly report"});
struct LockOptions {
  static constexpr std::chrono::milliseconds min_ttl = std::chrono::milliseconds(20);
  static constexpr std::chrono::milliseconds max_ttl = std::chrono::hours(24 * 30);

  /// The length of the lease, which is how long the lock outlives a holder that crashed. It must be between min_ttl and
  /// max_ttl. A store that cannot give such a short lease gives a longer one: see StoreTraits::min_ttl and
  /// Hold::lease().
  std::chrono::milliseconds ttl = std::chrono::seconds(10);

  LeaseKind lease = LeaseKind::renewed;

  /// The longest time for which the lock may be held. After that the hold is given up and reported as lost. Zero means
  /// no limit.
  std::chrono::milliseconds max_hold = std::chrono::milliseconds::zero();

  /// How long the lock stays closed to everybody after an unclean end: its holder crashed, was cut off, exceeded
  /// max_hold, or closed its client without releasing the lock. This gives requests that the old holder has sent time
  /// to arrive, for resources that cannot check tokens. The delay counts from the end of the lease. A release opens the
  /// lock at once, and so does an operator who takes it away. Errc::unsupported if the store does not support it
  /// (StoreTraits::lock_delay).
  std::chrono::milliseconds lock_delay = std::chrono::milliseconds::zero();

  /// Why the lock is held, as listings of the locks show it. At most 1,024 bytes.
  std::string reason = {};
};

}  // namespace holdfast
