#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/history.hpp"

namespace holdfast::sim {

/// What Holdfast promises, as far as a history can show it.
enum class Rule : std::uint8_t {
  /// Claimed holds [granted, min(V, released, lost)] of a name never overlap, unless all are shared; and never are more
  /// permits held than there are.
  exclusion,
  /// Tokens of a name rise from grant to grant; a reader's is at least the last writer's, and less than the next one's.
  token_order,
  lock_delay,       ///< whoever holds a lock beyond its end keeps others out for the delay
  fenced_writes,    ///< a resource never applies an older token after a newer one, nor refuses a valid holder's
  one_answer,       ///< whatever was asked is answered once; nobody is granted after leaving
  honest_release,   ///< whoever hears that the lock was given back has given it back
  gone_is_gone,     ///< a claim that was given back, with the store's confirmation, is not in the store afterwards
  served_in_time,   ///< whoever may be served is served: the dead cost no more than one lease, together
  local_order,      ///< the requests of one client for one name are granted in the order in which they came
  fair_turns,       ///< local turns end within their bound while another client waits
  fair_joins,       ///< readers join others of their client only within the same bound
  line_order,       ///< the store grants claims in the order in which they joined its line, whatever their mode
  prompt_answers,   ///< by the deadline and two requests' patience; at once when cancelled
  lost_by_v,        ///< a hold that was not renewed is lost by V, and everybody who asks or listens learns it
  dead_is_dead,     ///< a lost hold never becomes valid again
  risk_is_told,     ///< at_risk at once when a renewal has failed, and only then
  nothing_left,     ///< closing leaves no cell, timer, expectation, request or claim behind
  comes_to_an_end,  ///< when all faults are over, everything is answered and silence falls
};

const char* name_of(Rule rule);

struct Violation {
  Rule rule;
  Moment at;
  std::string what;
};

/// Reads a history from beginning to end; pure. The first few violations are enough.
std::vector<Violation> check(const History& history);

}  // namespace holdfast::sim
