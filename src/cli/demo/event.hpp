#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/instant.hpp"
#include "holdfast/token.hpp"

namespace holdfast::cli::demo {

/// The two hosts of the demonstration.
enum class HostId { a, b };

inline constexpr std::array all_hosts{HostId::a, HostId::b};
constexpr std::string_view name_of(HostId host) { return host == HostId::a ? "host-a" : "host-b"; }

/// Something that a host did, or that was done to it. Plain bytes: it goes through a socket between two processes of
/// one build.
struct Event {
  enum class Kind {
    // told by the host
    begins,    ///< its job was started
    waits,     ///< found the lock held
    acquired,  ///< has the lock: `token`, `lease_ms`
    checked,   ///< asked its hold, and it is valid
    sent,      ///< the gateway took its message
    refused,   ///< the gateway did not: `token` is too old
    skips,     ///< the job was done already
    released,  ///< gave the lock back
    lost,      ///< asked its hold again, and it is lost
    failed,    ///< could not go on: `text`, and `code` for the tool to exit with
    // done to the host
    killed,
    stopped,
    resumed,
    left,  ///< its process is gone
  };

  HostId host = HostId::a;
  Kind kind = Kind::begins;
  base::BootClock::rep at = 0;  ///< the same clock in all processes
  std::uint64_t token = 0;
  std::int64_t lease_ms = 0;  ///< of `acquired`: what the store was asked for
  int code = 0;
  std::array<char, 512> text = {};

  base::Instant time() const { return base::Instant(base::Duration(at)); }
};

/// An event of this moment.
inline Event event_now(HostId host, Event::Kind kind, Token token = {}) {
  return {.host = host, .kind = kind, .at = base::BootClock::now().time_since_epoch().count(), .token = token.value()};
}

}  // namespace holdfast::cli::demo
