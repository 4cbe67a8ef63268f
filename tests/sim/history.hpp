#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/error.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/status.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {

/// What happened. The comment says what the members of Event mean, beside `at`, `client` and `name`.
enum class What : std::uint8_t {
  // Users: subject is the turn; mode and permits are what it wants or has.
  entered,     ///< until: its deadline or never; length: ttl; detail: 1 if it refuses to wait; lock_delay
  cancels,     ///< the user changes its mind
  granted,     ///< value: token; until: V; length: ttl; detail: 1 if the user listens
  answered,    ///< anything but granted; detail: Errc
  renewed,     ///< until: the new V
  sampled,     ///< detail: HoldState as the user sees it; until: V
  told,        ///< the user's callback; detail: HoldState
  lost,        ///< the hold has ended by itself; until: V
  releases,    ///< the user lets go; until: V; detail: 1 if it wants to hear what becomes of it
  released,    ///< that; detail: Released
  extends,     ///< length: by how much
  extended,    ///< detail: 0 or Errc
  downgrades,  ///< an exclusive hold is shared from now on
  downgraded,  ///< detail: 0 or Errc
  holds_on,    ///< value: the claim on which the hold lives; right after its grant, and when it has moved
  wrote,       ///< a write arrived at the fenced resource; value: token; until: when it was sent; detail: 1 if accepted

  // Claims: subject is the claim, length its lease, detail the Request; mode, permits and lock_delay if it is sent.
  sent,           ///< value: for an acquire, 1 + the claim it replaces
  replaced,       ///< in the store, by an acquire that is being executed
  executed,       ///< by the store; standing says the result, value: the number
  kept,           ///< in the store, because another claim of the same session was armed
  failed,         ///< at the client; standing: Errc
  heard,          ///< the answer arrived at the client; standing, value: as executed
  store_granted,  ///< without being asked; value: number
  pushed,         ///< that arrived at the client
  hinted,         ///< the client was told to look
  unheard,        ///< a message was lost

  // Clients.
  opened,
  troubled,  ///< its link is bad until `until` (client everybody: all of them, or the store)
  paused,
  resumed,
  crashed,
  closing,
  closed,  ///< value: what is left of it, see Leftover

  // The end.
  ended,  ///< value: 1 if the store still has claims
  hung,   ///< the history did not come to an end

  // The store.
  forgot,  ///< it has lost all its claims; until: when whoever had one is done with believing in it
};

enum class Request : std::uint8_t { acquire, renew, release, downgrade };

/// For Event::value of What::closed: how many of each, as bytes.
struct Leftover {
  std::uint8_t cells = 0;
  std::uint8_t timers = 0;
  std::uint8_t expectations = 0;
  std::uint8_t requests = 0;

  std::uint64_t packed() const {
    return cells | std::uint64_t{timers} << 8U | std::uint64_t{expectations} << 16U | std::uint64_t{requests} << 24U;
  }
};

struct Event {
  static constexpr std::uint8_t everybody = 0xFF;

  Moment at = {};
  Moment until = {};
  std::uint64_t value = 0;
  std::uint32_t subject = 0;
  std::uint32_t length = 0;  ///< in milliseconds
  What what = What::hung;
  std::uint8_t client = everybody;
  std::uint8_t name = 0;
  std::uint8_t detail = 0;
  std::uint8_t standing = 0;
  std::uint8_t mode = 0;  ///< a ClaimMode
  std::uint8_t permits = 1;
  std::uint8_t lock_delay = 0;  ///< in milliseconds
};

/// What the checker looks at.
struct History {
  // The rules of this history.
  std::uint8_t clients = 0;
  std::uint8_t names = 0;
  std::array<std::uint8_t, 8> limits = {};  ///< of each name: 0 if it is a lock, else how many permits there are
  bool local_turns = true;                  ///< tokens are number << 8 | turn
  Duration longest_delay = {};              ///< of a message that is not troubled
  Duration poll_interval = {};
  Duration connect_timeout = {};

  /// False: threads of real processes wrote it down. Then an event may come up to `noise` late, and those of different
  /// threads in any order; the `until` of a grant is the last moment at which its user is known to have counted on it;
  /// nothing is known of claims, renewals and risks; a paused client may stand in everybody's way.
  bool exact = true;
  Duration noise = {};
  Duration longest_lease = {};  ///< needed only if it is not exact

  std::vector<Event> events = {};

  void clear() { events.clear(); }
  /// The same for the same events.
  std::uint64_t hash() const;
};

/// For people: one line per event.
std::string to_text(const Event& event);
std::string to_text(const History& history);

}  // namespace holdfast::sim
