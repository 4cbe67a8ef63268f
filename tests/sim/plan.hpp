#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/status.hpp"
#include "sim/dice.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {

/// Everything random about a history, decided before it starts, so that it can be replayed and made smaller.
/// What happens to single messages is decided by dice that depend on the seed, the client and a counter only.

/// How clients learn that their turn has come.
enum class Waiting : std::uint8_t {
  pushed,   ///< the store tells the whole grant
  watched,  ///< the store hints that something changed; numbers are given on joining the line
  polled,   ///< nobody tells anything: clients ask again and again
};

enum class Ending : std::uint8_t {
  release,
  release_and_hear,  ///< asks what became of the release
  forget,            ///< holds until it is lost
};

/// What one thread of one client does once: it thinks, wants a lock, may change its mind, holds it and lets it go.
struct Turn {
  std::uint8_t client = 0;
  std::uint8_t thread = 0;
  std::uint8_t name = 0;
  std::uint8_t permits = 1;  ///< where the name is a semaphore
  ClaimMode mode = ClaimMode::exclusive;
  bool refuses_to_wait = false;
  bool fixed_lease = false;
  bool listens = false;  ///< has a callback on the hold
  Ending ending = Ending::release;
  milliseconds ttl = {};
  milliseconds max_hold = {};  ///< zero: no limit
  milliseconds lock_delay = {};
  microseconds thinks = {};         ///< before it enters
  microseconds deadline = {};       ///< after entering; zero: none
  microseconds cancels_after = {};  ///< after entering; zero: never
  microseconds holds = {};
  microseconds writes_after = {};   ///< to the fenced resource, after the grant; zero: never
  microseconds extends_after = {};  ///< after the grant; zero: never
  milliseconds extends_by = {};
  microseconds downgrades_after = {};  ///< after the grant; zero: never
};

enum class FaultKind : std::uint8_t {
  lose_requests,
  lose_replies,
  repeat_requests,
  delay_messages,  ///< some messages arrive so late that they were given up
  disturb_pushes,  ///< lost, late, repeated
  slow_link,
  cut_link,
  stop_store,  ///< and start it again; claims are kept, what is under way is lost
  pause,
  crash,  ///< and start again after a while
  close,  ///< in good order, and open again after a while
};

struct Fault {
  static constexpr std::uint8_t everybody = 0xFF;

  FaultKind kind = FaultKind::pause;
  std::uint8_t client = everybody;
  std::uint32_t per_mille = 1000;  ///< of the messages
  microseconds at = {};
  microseconds length = {};
};

struct Plan {
  static constexpr std::size_t most_names = 8;

  std::uint64_t seed = 0;
  std::uint8_t clients = 4;
  std::uint8_t names = 3;
  /// Of each name: 0 if it is a lock, else how many permits there are.
  std::array<std::uint8_t, most_names> limits = {};
  Waiting waiting = Waiting::pushed;
  bool lazy_expiry = false;     ///< leases end when somebody looks, not by themselves
  bool session_leases = false;  ///< renewing one claim of a client renews them all
  bool keeps_mutexes = false;   ///< clients keep their mutexes for life, instead of one per turn
  std::uint32_t local_turns = 64;
  milliseconds poll_interval = {};
  milliseconds connect_timeout = {};
  std::int32_t store_ppm = 0;
  std::vector<std::int32_t> client_ppm = {};
  std::vector<Turn> turns = {};  ///< each thread's in the order in which it takes them
  std::vector<Fault> faults = {};
};

Plan make_plan(std::uint64_t seed);

/// For people.
std::string to_text(const Plan& plan);
std::string to_text(const Turn& turn);
std::string to_text(const Fault& fault);

}  // namespace holdfast::sim
