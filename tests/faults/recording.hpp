#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/log.hpp"
#include "faults/resources.hpp"
#include "sim/checker.hpp"
#include "sim/history.hpp"

namespace holdfast::faults {

/// What is known of one process that contended: what it noted, and what was done to it.
struct Testimony {
  struct Pause {
    Moment from = {};
    Moment until = never;
  };

  std::uint8_t slot = 0;
  Moment started = {};
  Moment killed = never;  ///< just before the signal
  Moment gone = never;    ///< never: it did not end, and had to
  std::vector<Pause> pauses = {};
  std::vector<Note> notes = {};
};

/// Harm to the store itself.
struct Trouble {
  Moment from = {};
  Moment until = {};
  bool away = false;     ///< nobody could be served
  bool forgets = false;  ///< nobody held anything afterwards
};

/// Everything that is known of one run.
struct Recording {
  std::uint8_t processes = 0;
  std::uint8_t names = 0;
  milliseconds ttl = {};
  milliseconds noise = {};  ///< how long a thread that may run may take to do so
  std::vector<Testimony> lives = {};
  std::vector<Trouble> troubles = {};
  std::vector<std::vector<FencedResource::Entry>> journals = {};  ///< of the fenced resource of each name
  Moment ended = {};
  bool store_is_empty = true;
};

/// The recording as a history that the simulation's checker reads: not an exact one (sim::History::exact).
///
/// When a hold was claimed is told in the users' disfavour only as far as it is certain: from the moment after the call
/// returned, to the last V that a look at it showed, but not beyond the moment before it was released, or before its
/// process was killed; and if it was lost earlier than that V, to the last look that found it valid.
sim::History history_of(const Recording& recording);

/// The checker's verdict on it, and on the journals: between a holder's read and its write nobody else has written,
/// and only tokens that were granted are in there.
std::vector<sim::Violation> judge(const Recording& recording);

struct Statistics {
  std::uint64_t turns = 0;
  std::uint64_t grants = 0;
  std::uint64_t refusals = 0;  ///< busy or timed out
  std::uint64_t errors = 0;    ///< unreachable or in doubt
  std::uint64_t other_errors = 0;
  std::uint64_t losses = 0;          ///< holds that their users saw or heard to be lost
  std::uint64_t forgotten = 0;       ///< of these, held when the store forgot everything
  std::uint64_t refused_writes = 0;  ///< late writes that the fence refused
  std::uint64_t harmful_writes = 0;  ///< late writes that harmed the resource without a fence
  milliseconds latest_answer = {};   ///< after its deadline; of calls of processes that were never stopped
  milliseconds longest_wait = {};    ///< for a grant
};

Statistics statistics_of(const Recording& recording);

}  // namespace holdfast::faults
