#pragma once

#include "sim/event_queue.hpp"
#include "sim/history.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {

/// What everything in a simulated world shares: the moment, what comes, and what was.
struct Timeline {
  Moment now = {};
  EventQueue queue = {};
  History history = {};

  void record(Event event) {
    event.at = now;
    history.events.push_back(event);
  }
};

}  // namespace holdfast::sim
