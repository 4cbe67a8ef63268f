#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "faults/fleet.hpp"
#include "faults/recording.hpp"
#include "faults/store.hpp"

namespace holdfast::faults {

/// What was done to a fleet, and to its store.
struct Harm {
  std::uint64_t kills = 0;
  std::uint64_t short_stops = 0;       ///< shorter than the lease
  std::uint64_t long_stops = 0;        ///< longer
  std::uint64_t stops_in_section = 0;  ///< longer, and between a look at the hold and the write that follows from it
  Duration longest_stall = {};         ///< of the machine: what should have taken no time took as long
  std::uint64_t sabotages = 0;         ///< how often the store was harmed
  std::uint64_t hits = 0;              ///< how many scripts, keys or connections that hit, see Store::do_harm()
  std::vector<Trouble> troubles = {};  ///< when
};

/// To which store, and what.
struct SabotagePlan {
  Store& store;
  Sabotage kind;
};

/// Kills, stops and resumes the processes of a fleet at random, and harms its store if asked to, for a while; now and
/// then it rests for so long that whoever waits must be served. At most a quarter of the fleet stands still at any
/// time. The seed decides what it does and when; what that meets is up to the scheduler.
class Nemesis {
 public:
  Nemesis(Fleet& fleet, Mapping<Arena>& arena, std::uint64_t seed, std::optional<SabotagePlan> sabotage = {})
      : fleet_(fleet),
        arena_(arena),
        sabotage_(sabotage),
        random_(seed),
        wakes_(fleet.slots(), never),
        in_section_(fleet.slots()) {}

  /// Goes on for longer if it has not done harm of every kind by then. Returns when everybody runs again.
  Harm run(milliseconds duration);

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  milliseconds leases(std::int64_t least_percent, std::int64_t most_percent);
  void do_harm();
  bool has_done_enough() const;
  void sabotage();
  void pass(milliseconds length);
  /// Asks for no more stops, and returns when everybody runs.
  void come_to_rest();
  void wake_up(Moment moment);
  void wait_until(Moment moment);
  template <class Call>
  void at_once(Call call);

  Fleet& fleet_;
  Mapping<Arena>& arena_;
  const std::optional<SabotagePlan> sabotage_;
  Moment next_sabotage_ = never;
  std::mt19937_64 random_;
  std::vector<Moment> wakes_;     ///< when whoever stands still goes on
  std::vector<bool> in_section_;  ///< who stopped itself between a look and the write
  Harm harm_;
};

}  // namespace holdfast::faults
