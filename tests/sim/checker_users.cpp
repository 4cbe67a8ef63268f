// What users do and see: holds, tokens, answers.

#include "sim/checker_notes.hpp"

namespace holdfast::sim {

namespace {

constexpr auto at_risk = static_cast<std::uint8_t>(HoldState::at_risk);

}  // namespace

void Checker::read_turn(const Event& event) {
  switch (event.what) {
    case What::entered: return entered(event);
    case What::cancels: turn(event).cancelled_at = now_; return;
    case What::granted: return granted(event);
    case What::answered: return answered(event);
    case What::renewed:
      if (Hold* hold = this->hold(event)) {
        if (hold->ended || now_ >= hold->valid_until)
          violated(Rule::dead_is_dead, turn_text(event) + " was renewed after V");
        hold->valid_until = event.until;
      }
      return;
    case What::downgrades:
      ++turn(event).unheard;
      if (Hold* hold = this->hold(event)) hold->mode = ClaimMode::shared;
      return;
    case What::downgraded: return heard_of(event);
    case What::holds_on:
      if (Hold* hold = this->hold(event)) hold->claim = static_cast<std::uint32_t>(event.value);
      return;
    case What::sampled: return sampled(event);
    case What::told: return told(event);
    case What::lost:
      if (Hold* hold = this->hold(event)) {
        hold->lost_at = now_;
        stays_closed(*hold);
        if (hold->lock_delay > Duration::zero() && hold->claim != nobody) {
          block(event.name, opens(claim(hold->claim)));
          claim(hold->claim).over = true;  // not given back, and not looked after any more
          claim(hold->claim).unclean = true;
        }
      }
      return hold_ended(event);
    case What::releases:
      turn(event).unheard += event.detail;
      turn(event).too_late = now_ >= event.until;
      if (const Hold* hold = this->hold(event); hold != nullptr && hold->lost_at != never) {
        turn(event).too_late = true;
        return;
      }
      if (const Hold* hold = this->hold(event); hold != nullptr && hold->claim != nobody) {
        ClaimNotes& its_claim = claim(hold->claim);
        if (its_claim.unclean) block(event.name, opens(its_claim));
        its_claim.over = its_claim.over || its_claim.unclean;  // a renewal may be under way
      }
      return hold_ended(event);
    case What::extends:
      ++turn(event).unheard;
      ++clients_[event.client].lines[event.name].extensions;
      return;
    case What::extended: --clients_[event.client].lines[event.name].extensions; return heard_of(event);
    case What::released: return heard_of(event);
    case What::wrote: return wrote(event);
    default: return;
  }
}

void Checker::entered(const Event& event) {
  TurnNotes& turn = this->turn(event);
  turn.entered_at = now_;
  turn.client = event.client;
  turn.patience = spi::patience(milliseconds(event.length));
  turn.answer_by = event.until;
  turn.newest_token = names_[event.name].last_token;
  turn.lock_delay = milliseconds(event.lock_delay);
  clients_[event.client].lines[event.name].line.push_back(event.subject);
  if (!history_.exact) {
    clients_[event.client].lines[event.name].lease = length_of(event);
    waits_outside(event.client, event.name);
  }
  if (event.detail != 0) {  // will not wait: one request, or the time it may take to find the store
    turn.answer_by = std::min(turn.answer_by, now_ + std::max(turn.patience, history_.connect_timeout));
  }
}

void Checker::answered(const Event& event) {
  TurnNotes& turn = this->turn(event);
  if (turn.answered) violated(Rule::one_answer, turn_text(event) + " was answered twice");
  turn.answered = true;
  Client& client = clients_[event.client];
  std::erase(client.lines[event.name].line, event.subject);
  if (!history_.exact && client.lines[event.name].line.empty()) client.lines[event.name].waits_since = never;
  if (turn.cancelled_at != never && now_ > noticed_by(event.client, turn.cancelled_at)) {
    violated(Rule::prompt_answers, turn_text(event) + " was answered long after it was cancelled");
  }
  if (turn.answer_by == never || client.paused) return;  // a process runs a little before it is noted to
  const Moment latest = std::max(turn.answer_by, client.resumed_at) + at_most(2 * turn.patience) + slack;
  if (now_ > latest + history_.noise) violated(Rule::prompt_answers, turn_text(event) + " was answered too late");
}

void Checker::granted(const Event& event) {
  TurnNotes& turn = this->turn(event);
  if (turn.cancelled_at != never && history_.exact)
    violated(Rule::one_answer, turn_text(event) + " was granted after it was cancelled");
  if (const auto& line = clients_[event.client].lines[event.name].line;
      history_.exact && !line.empty() && line.front() != event.subject) {
    violated(Rule::local_order, turn_text(event) + " was granted before turn " + std::to_string(line.front()));
  }
  wait_is_bounded(event.name);
  answered(event);
  check_token(event);

  Name& name = names_[event.name];

  check_exclusion(event);
  check_times_of_hold(event);

  turn.hold = static_cast<std::uint32_t>(holds_.size());
  if (!name.groups.empty()) name.groups.back().last_hold = turn.hold;
  name.holds.push_back(turn.hold);
  Stand& stand = clients_[event.client].lines[event.name];
  holds_.push_back({.token = event.value,
                    .granted_at = now_,
                    .valid_until = event.until,
                    .lock_delay = turn.lock_delay,
                    .turn = event.subject,
                    .claim = stand.claim,
                    .mode = mode_of(event),
                    .permits = event.permits,
                    .client = event.client,
                    .name = event.name,
                    .listens = event.detail != 0});
  stand.waits_since = never;
}

void Checker::sampled(const Event& event) {
  if (event.detail > at_risk) return;
  if (now_ >= event.until) violated(Rule::lost_by_v, turn_text(event) + " looked after V and saw a valid hold");
  const Hold* const hold = this->hold(event);
  if (hold == nullptr) return;
  if (hold->ended) {
    violated(Rule::dead_is_dead, turn_text(event) + " looked after its hold had ended and saw a valid one");
  }
  if (std::any_of(amnesias_.begin(), amnesias_.end(),
                  [&](const Amnesia& it) { return hold->granted_at < it.from && it.until <= now_; })) {
    violated(Rule::lost_by_v, turn_text(event) + " saw a valid hold that the store has long forgotten");
  }
}

void Checker::check_exclusion(const Event& event) {
  Name& name = names_[event.name];
  std::erase_if(name.holds, [&](std::uint32_t at) {
    const Hold& hold = holds_[at];
    return (hold.ended || hold.valid_until <= now_) && hold.closed_until <= now_;
  });
  const Moment from = std::max(now_, forgotten_by());
  if (event.until <= from) return;  // it was dead when its user heard of it, who claims nothing
  const std::uint32_t limit = history_.limits[event.name];
  std::uint32_t held = event.permits;
  std::uint32_t kept_closed = 0;
  for (const std::uint32_t at : name.holds) {
    const Hold& other = holds_[at];
    const bool claims = !other.ended && other.valid_until > from;
    if (!claims && other.closed_until <= from) continue;
    (claims ? held : kept_closed) += other.permits;
    if (limit > 0 || (other.mode == ClaimMode::shared && mode_of(event) == ClaimMode::shared)) continue;
    violated(claims ? Rule::exclusion : Rule::lock_delay,
             turn_text(event) + " was granted while turn " + std::to_string(other.turn) +
                 (claims ? " still claims to hold it" : ", which did not release it, keeps it closed"));
  }
  if (limit == 0) return;
  if (held > limit) {
    violated(Rule::exclusion, turn_text(event) + " was granted, and " + std::to_string(held) + " permits of " +
                                  std::to_string(limit) + " are held");
  } else if (held + kept_closed > limit) {
    violated(Rule::lock_delay, turn_text(event) + " was granted permits that whoever did not release them keeps back");
  }
}

/// A hold that was dead when its user heard of it may be older than the last; but not than those before its request. So
/// may one that the store has forgotten meanwhile.
void Checker::check_token(const Event& event) {
  Name& name = names_[event.name];
  const bool alive = event.until > now_;
  if (mode_of(event) == ClaimMode::shared) {
    if (alive && event.value < name.last_writers_token) {
      violated(Rule::token_order, turn_text(event) + " got a token that is smaller than the last writer's");
    }
    name.last_token = std::max(name.last_token, event.value);
    return;
  }
  // Permits are granted side by side, and heard of in any order: the store's order is checked where it grants them.
  const bool side_by_side = mode_of(event) == ClaimMode::permits;
  const bool is_newest = alive && now_ >= forgotten_by();
  if (!side_by_side && event.value <= (is_newest ? name.last_token : turn(event).newest_token)) {
    if (!is_known_of_old(event))
      violated(Rule::token_order, turn_text(event) + " got a token that is not larger than the last");
  } else if ((!is_newest || side_by_side) && std::any_of(holds_.begin(), holds_.end(), [&](const Hold& hold) {
               return hold.name == event.name && hold.token == event.value;
             })) {
    violated(Rule::token_order, turn_text(event) + " got a token that another one has");
  }
  name.last_token = std::max(name.last_token, event.value);
  name.last_writers_token = std::max(name.last_writers_token, event.value);
}

/// Whether it lives on a claim that its client was granted before the store forgot everything: others may have larger
/// tokens already.
bool Checker::is_known_of_old(const Event& event) const {
  if (amnesias_.empty() || turns_[event.subject].entered_at >= forgotten_by()) return false;
  if (event.until > now_ && now_ >= forgotten_by()) return false;
  return std::any_of(holds_.begin(), holds_.end(), [&](const Hold& hold) {
    return hold.name == event.name && hold.client == event.client && hold.token >> 8U == event.value >> 8U &&
           hold.token < event.value;
  });
}

void Checker::check_times_of_hold(const Event& event) {
  if (!history_.local_turns || !history_.exact) return;
  Name& name = names_[event.name];
  const auto same = std::find_if(name.groups.rbegin(), name.groups.rend(),
                                 [&](const HoldGroup& group) { return group.number == event.value >> 8U; });
  if (same == name.groups.rend()) {
    name.groups.push_back({.number = event.value >> 8U, .began = now_});
    return;
  }
  std::rotate(name.groups.rbegin(), same, same + 1);
  const HoldGroup& group = name.groups.back();
  if (const Hold& last = holds_.at(group.last_hold);
      last.at_risk && (!last.ended || mode_of(event) == ClaimMode::exclusive)) {
    violated(Rule::risk_is_told, turn_text(event) + " was handed a lock that is at risk");
  }
  const Duration bound = std::min<Duration>(length_of(event) / 10, milliseconds(50));
  const Moment ends = group.began + at_most(bound) + milliseconds(1);
  if (now_ <= ends) return;
  for (std::size_t other = 0; other < history_.clients; ++other) {
    const Moment since = clients_[other].lines[event.name].waits_since;
    if (other == event.client || since > ends) continue;
    const bool joins = mode_of(event) == ClaimMode::shared;
    return violated(
        joins ? Rule::fair_joins : Rule::fair_turns,
        turn_text(event) + " got a local turn after the bound, while client " + std::to_string(other) + " waits");
  }
}

void Checker::stays_closed(Hold& hold) {
  if (hold.lock_delay > Duration::zero()) hold.closed_until = hold.valid_until + at_least(hold.lock_delay);
}

/// Lost or released. By V it must have been lost, unless nothing could run then: in that case as soon as something can.
void Checker::hold_ended(const Event& event) {
  Hold* const hold = this->hold(event);
  if (hold == nullptr) return;
  if (hold->ended) violated(Rule::dead_is_dead, turn_text(event) + " ended twice");
  if (history_.exact && now_ > hold->valid_until && clients_[event.client].resumed_at != now_) {
    violated(Rule::lost_by_v, turn_text(event) + " was not lost by V");
  }
  if (now_ > hold->risk_since) violated(Rule::risk_is_told, turn_text(event) + " was not told that it is at risk");
  if (live(*hold)) {
    wait_is_bounded(event.name);
    names_[event.name].last_progress = now_;
  }
  hold->ended = true;
  if (!history_.exact) waits_outside(event.client, event.name);
}

void Checker::told(const Event& event) {
  Hold* const hold = this->hold(event);
  if (hold == nullptr) return;
  if (hold->told_lost) violated(Rule::dead_is_dead, turn_text(event) + " heard more after it was lost");
  switch (static_cast<HoldState>(event.detail)) {
    case HoldState::at_risk:
      hold->at_risk = true;
      if (now_ > hold->risk_since)
        violated(Rule::risk_is_told, turn_text(event) + " was told too late that it is at risk");
      hold->risk_since = never;
      if (clients_[event.client].renewal_failed_at < when_claim_was_granted(*hold)) {
        violated(Rule::risk_is_told, turn_text(event) + " is at risk, but no renewal has failed");
      }
      return;
    case HoldState::held:
      if (!hold->at_risk) violated(Rule::risk_is_told, turn_text(event) + " is held again, but was not at risk");
      hold->at_risk = false;
      return;
    case HoldState::lost:
      hold->told_lost = true;
      if (hold->lost_at != never && now_ > noticed_by(event.client, hold->lost_at)) {
        violated(Rule::lost_by_v, turn_text(event) + " was told too late that it is lost");
      }
      return;
    case HoldState::released: return violated(Rule::one_answer, turn_text(event) + " was told of its own release");
  }
}

void Checker::heard_of(const Event& event) {
  TurnNotes& turn = this->turn(event);
  if (--turn.unheard < 0) violated(Rule::one_answer, turn_text(event) + " heard of one thing twice");
  if (event.what == What::released && turn.too_late && static_cast<Released>(event.detail) != Released::not_held) {
    violated(Rule::lost_by_v, turn_text(event) + " released after V, and did not hear that it was lost");
  }
  if (event.what != What::released || static_cast<Released>(event.detail) != Released::released) return;
  const Hold* const hold = this->hold(event);
  if (hold == nullptr || hold->claim == nobody) return;
  const ClaimNotes& claim = this->claim(hold->claim);  // not given back: it serves the next in the client's own line
  if (claim.given_back && !claim.ever_released) {
    violated(Rule::honest_release, turn_text(event) + " hears that it was released, but the store has not heard of it");
  }
}

void Checker::wrote(const Event& event) {
  Name& name = names_[event.name];
  const bool accepted = event.detail != 0;
  if (accepted && event.value < name.largest_written) {
    violated(Rule::fenced_writes, turn_text(event) + " wrote with an older token than the last");
  }
  if (accepted) name.largest_written = event.value;
  const Hold* hold = this->hold(event);
  if (!accepted && hold != nullptr && !hold->ended && now_ < hold->valid_until && now_ >= forgotten_by()) {
    violated(Rule::fenced_writes, turn_text(event) + " holds the lock, but its write was refused");
  }
}

}  // namespace holdfast::sim
