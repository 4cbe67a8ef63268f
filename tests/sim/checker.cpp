#include "sim/checker.hpp"

#include "sim/checker_notes.hpp"

namespace holdfast::sim {

std::vector<Violation> Checker::run() {
  for (const Event& event : history_.events) {
    now_ = event.at;
    if (event.what <= What::wrote) {
      read_turn(event);
    } else if (event.what <= What::unheard) {
      read_claim(event);
    } else {
      read_client(event);
    }
    if (violations_.size() >= enough_violations) break;
  }
  return std::move(violations_);
}

void Checker::read_client(const Event& event) {
  if (event.what == What::troubled) return troubled(event);
  if (event.what == What::forgot) return forgot(event);
  if (event.what == What::hung) return violated(Rule::comes_to_an_end, "something goes on for ever");
  if (event.what == What::ended) {
    if (event.value != 0) violated(Rule::nothing_left, "the store still has claims");
    return at_the_end();
  }

  Client& client = clients_[event.client];
  switch (event.what) {
    case What::opened:
      client.opened_at = now_;
      client.paused = false;
      return;
    case What::paused:
      leaves_the_line(event.client);
      client.paused = true;
      return;
    case What::closing: return leaves_the_line(event.client);
    case What::resumed: return resumed(event.client);
    case What::crashed:
      leaves_the_line(event.client);
      forget(event.client);
      client.paused = false;
      return;
    case What::closed: return closed(event);
    default: return;
  }
}

void Checker::troubled(const Event& event) {
  waits_are_bounded();
  if (!history_.exact) return block_everything(event.until);
  for (std::uint8_t at = 0; at < history_.clients; ++at) {
    if (event.client != Event::everybody && event.client != at) continue;
    Client& client = clients_[at];
    client.troubled_until = std::max(client.troubled_until, event.until);
    for (const ClaimNotes& claim : claims_) {
      if (claim.client != at || claim.armed_until <= now_) continue;
      block(claim.name, over_it(client, claim.lease));
      if (claim.lock_delay > Duration::zero()) block(claim.name, opens(claim));
    }
    stop_waiting(at);
  }
}

void Checker::forgot(const Event& event) {
  waits_are_bounded();
  block_everything(event.until);
  amnesias_.push_back({.from = now_, .until = std::max(event.until, forgotten_by())});
}

void Checker::resumed(std::uint8_t client) {
  clients_[client].paused = false;
  clients_[client].resumed_at = now_;
  if (history_.exact) return;
  block_everything(now_);
  for (std::uint8_t name = 0; name < history_.names; ++name) waits_outside(client, name);
}

/// It cannot be served any more. What it has in the store stays there until its leases end.
void Checker::leaves_the_line(std::uint8_t client) {
  waits_are_bounded();
  if (!history_.exact) block_everything(now_);
  for (const ClaimNotes& claim : claims_) {
    if (claim.client == client && claim.armed_until > now_) block(claim.name, opens(claim));
  }
  stop_waiting(client);
}

/// Until a lease after `moment`.
void Checker::block_everything(Moment moment) {
  for (std::uint8_t name = 0; name < history_.names; ++name) block(name, moment + at_most(history_.longest_lease));
}

void Checker::stop_waiting(std::uint8_t client) {
  for (Stand& stand : clients_[client].lines) stand.waits_since = never;
}

/// The client is no more: nobody waits for its answers. Its holds claim what they claimed.
void Checker::forget(std::uint8_t client) {
  clients_[client].opened_at = never;
  for (Stand& stand : clients_[client].lines) {
    stand.line.clear();
    stand.extensions = 0;
  }
  for (Hold& hold : holds_) {
    if (hold.client != client || hold.orphan) continue;
    hold.orphan = true;
    if (!hold.ended) stays_closed(hold);
    if (history_.exact && !hold.ended && now_ > hold.valid_until && !clients_[client].paused) {
      violated(Rule::lost_by_v, "turn " + std::to_string(hold.turn) + " was not lost by V");
    }
    if (hold.listens && !hold.told_lost && hold.lost_at != never && now_ > noticed_by(client, hold.lost_at)) {
      violated(Rule::lost_by_v, "turn " + std::to_string(hold.turn) + " was lost, and its listener was not told");
    }
  }
  for (TurnNotes& turn : turns_) {
    if (turn.client != client || turn.entered_at == never) continue;
    turn.answered = true;
    turn.unheard = 0;
  }
}

void Checker::closed(const Event& event) {
  if (event.value != 0) {
    const auto byte = [&](unsigned shift) { return std::to_string(event.value >> shift & 0xFFU); };
    violated(Rule::nothing_left, "closing client " + std::to_string(event.client) + " left " + byte(0) + " cells, " +
                                     byte(8) + " timers, " + byte(16) + " expectations and " + byte(24) + " requests");
  }
  for (std::uint32_t i = 0; i < turns_.size(); ++i) {
    const TurnNotes& turn = turns_[i];
    if (turn.client != event.client || turn.entered_at == never) continue;
    if (!turn.answered)
      violated(Rule::one_answer, "turn " + std::to_string(i) + " was not answered when its client closed");
    if (turn.unheard > 0)
      violated(Rule::one_answer, "turn " + std::to_string(i) + " never heard of its release or extension");
  }
  forget(event.client);
}

void Checker::at_the_end() {
  for (std::uint32_t i = 0; i < turns_.size(); ++i) {
    const TurnNotes& turn = turns_[i];
    if (turn.entered_at != never && !turn.answered) {
      violated(Rule::comes_to_an_end, "turn " + std::to_string(i) + " was never answered");
    }
  }
}

const char* name_of(Rule rule) {
  switch (rule) {
    case Rule::exclusion: return "exclusion";
    case Rule::token_order: return "token order";
    case Rule::lock_delay: return "lock delay";
    case Rule::fenced_writes: return "fenced writes";
    case Rule::one_answer: return "one answer";
    case Rule::honest_release: return "honest release";
    case Rule::gone_is_gone: return "gone is gone";
    case Rule::served_in_time: return "served in time";
    case Rule::local_order: return "local order";
    case Rule::fair_turns: return "fair turns";
    case Rule::fair_joins: return "fair joins";
    case Rule::line_order: return "line order";
    case Rule::prompt_answers: return "prompt answers";
    case Rule::lost_by_v: return "lost by V";
    case Rule::dead_is_dead: return "dead is dead";
    case Rule::risk_is_told: return "risk is told";
    case Rule::nothing_left: return "nothing left behind";
    case Rule::comes_to_an_end: return "comes to an end";
  }
  return "?";
}

std::vector<Violation> check(const History& history) { return Checker(history).run(); }

}  // namespace holdfast::sim
