// What clients have in the store, and how long they wait there.

#include <utility>

#include "sim/checker_notes.hpp"

namespace holdfast::sim {

using Standing = spi::ClaimAnswer::Standing;

void Checker::read_claim(const Event& event) {
  switch (event.what) {
    case What::sent: return sent(event);
    case What::replaced: return withdrawn(event);
    case What::executed: return executed(event);
    case What::kept: armed(event); return;
    case What::failed:
      if (static_cast<Request>(event.detail) == Request::renew) renewal_failed(event);
      return;
    case What::heard:
      if (static_cast<Request>(event.detail) == Request::release) claim(event.subject).confirmed = true;
      claim(event.subject).over = static_cast<Standing>(event.standing) == Standing::absent;
      return;
    case What::store_granted:
      if (claim(event.subject).must_be_gone()) {
        violated(Rule::gone_is_gone,
                 "the store granted claim " + std::to_string(event.subject) + ", which was given back");
      }
      granted_in_store(event);
      claim(event.subject).granted = true;
      return;
    default: return;
  }
}

void Checker::renewal_failed(const Event& event) {
  clients_[event.client].renewal_failed_at = now_;
  if (clients_[event.client].lines[event.name].extensions > 0) return;  // an extension that fails is no renewal
  for (const std::uint32_t at : names_[event.name].holds) {
    Hold& hold = holds_[at];
    if (hold.claim != event.subject || !hold.listens || hold.ended || hold.at_risk) continue;
    hold.risk_since = std::min(hold.risk_since, now_);
  }
}

void Checker::sent(const Event& event) {
  ClaimNotes& claim = this->claim(event.subject);
  Stand& stand = clients_[event.client].lines[event.name];
  switch (static_cast<Request>(event.detail)) {
    case Request::acquire:
      if (claim.given_back) {
        violated(Rule::gone_is_gone, "claim " + std::to_string(event.subject) + " was given back and asked for again");
      }
      if (claim.sent_at != never) return;
      claim.sent_at = now_;
      wait_is_bounded(event.name);
      stand.waits_since = never;
      if (history_.limits[event.name] > 0) names_[event.name].last_progress = now_;
      stand.claim = event.subject;
      stand.permits = event.permits;
      claim.lock_delay = milliseconds(event.lock_delay);
      if (event.value != 0) this->claim(static_cast<std::uint32_t>(event.value - 1)).given_back = true;
      return;
    case Request::release:
      claim.given_back = true;
      if (stand.claim != event.subject) return;
      wait_is_bounded(event.name);
      stand.waits_since = never;
      if (history_.limits[event.name] > 0) names_[event.name].last_progress = now_;  // it may have wanted too many
      return;
    case Request::renew:
    case Request::downgrade: return;
  }
}

void Checker::withdrawn(const Event& event) {
  ClaimNotes& claim = this->claim(event.subject);
  if (claim.granted || history_.limits[event.name] > 0) {
    wait_is_bounded(event.name);
    names_[event.name].last_progress = now_;
  }
  claim.withdrawn();
}

/// The claim's lease runs anew. If nobody is there to use it, it stands in the way until it ends. True: it is
/// abandoned.
bool Checker::armed(const Event& event) {
  ClaimNotes& claim = this->claim(event.subject);
  const Client& client = clients_[event.client];
  const Moment until = now_ + at_most(length_of(event));
  claim.armed_until = std::max(claim.armed_until, until);
  claim.surely_until = std::max(claim.surely_until, now_ + at_least(length_of(event)));
  claim.lease = length_of(event);
  claim.client = event.client;
  claim.name = event.name;
  const bool abandoned = claim.abandoned() || client.opened_at == never || claim.sent_at < client.opened_at;
  const Moment over = over_it(client, claim.lease);
  if (abandoned || client.paused || now_ < over) wait_is_bounded(event.name);
  if (abandoned || client.paused) block(event.name, opens(claim));
  if (now_ < over) block(event.name, claim.lock_delay > Duration::zero() ? std::max(over, opens(claim)) : over);
  return abandoned;
}

void Checker::executed(const Event& event) {
  ClaimNotes& claim = this->claim(event.subject);
  Client& client = clients_[event.client];
  Stand& stand = client.lines[event.name];
  Name& name = names_[event.name];
  const auto request = static_cast<Request>(event.detail);

  if (request == Request::release) return withdrawn(event);
  if (request == Request::downgrade) return;
  if (request == Request::acquire) claim.released = false;  // perhaps it came late, after it was given back
  const auto standing = static_cast<Standing>(event.standing);
  if (standing == Standing::absent) return;
  if (claim.must_be_gone()) {
    violated(Rule::gone_is_gone, "claim " + std::to_string(event.subject) + " was given back, but is in the store");
  }
  if (now_ >= claim.surely_until) {  // it joins the line; perhaps again
    claim.place = now_ >= claim.armed_until ? ++joined_ : 0;
    claim.granted = false;
  }
  claim.client = event.client;
  claim.name = event.name;
  if (standing == Standing::granted && !claim.granted) granted_in_store(event);
  claim.granted = standing == Standing::granted;

  if (armed(event)) return;
  stand.lease = length_of(event);
  const bool excused = client.paused || now_ < over_it(client, stand.lease);
  if (stand.waits_since == never && stand.claim == event.subject && !excused &&
      std::none_of(name.holds.begin(), name.holds.end(),
                   [&](std::uint32_t at) { return live(holds_[at]) && holds_[at].claim == event.subject; })) {
    stand.waits_since = now_;
  }
}

/// In the order of the line, whatever the modes; and numbers rise.
void Checker::granted_in_store(const Event& event) {
  ClaimNotes& granted = claim(event.subject);
  Name& name = names_[event.name];
  if (std::exchange(granted.number, event.value) == event.value) return;  // known before
  if (event.value <= name.last_number) {
    violated(Rule::token_order, "claim " + std::to_string(event.subject) + " was granted with a number that is not " +
                                    "larger than the last");
  }
  name.last_number = std::max(name.last_number, event.value);
  if (granted.place == 0) return;
  for (std::uint32_t at = 0; at < claims_.size(); ++at) {
    const ClaimNotes& other = claims_[at];
    const bool waits = other.surely_until > now_ && !other.granted && other.name == event.name && at != event.subject;
    if (!waits || other.place == 0 || other.place > granted.place) continue;
    violated(Rule::line_order, "claim " + std::to_string(event.subject) + " was granted before claim " +
                                   std::to_string(at) + ", which had joined the line earlier");
  }
}

/// Nobody who may be served waits for longer than it takes the dead to expire and the living to look again.
void Checker::wait_is_bounded(std::uint8_t at) {
  const Name& name = names_[at];
  const std::uint32_t limit = history_.limits[at];
  if (limit == 0 && has_live_hold(name)) return;
  if (!history_.exact && std::any_of(clients_.begin(), clients_.end(), [](const Client& it) { return it.paused; }))
    return;
  std::uint32_t most_wanted = 0;
  for (const Client& client : clients_) {
    const Stand& stand = client.lines[at];
    if (limit == 0 || stand.claim == nobody) continue;
    const ClaimNotes& claim = claims_[stand.claim];
    if (claim.armed_until > now_ && !claim.granted) most_wanted = std::max<std::uint32_t>(most_wanted, stand.permits);
  }
  if (limit > 0 && permits_held(name) + most_wanted > limit) return;
  for (std::size_t client = 0; client < history_.clients; ++client) {
    Stand& stand = clients_[client].lines[at];
    if (stand.waits_since == never) continue;
    const Moment since = std::max({stand.waits_since, name.last_progress, name.blocked_until});
    const Duration looks_again = std::max(at_most(stand.lease / 3), 2 * history_.poll_interval);
    const Duration most = looks_again + 4 * history_.longest_delay + slack + history_.noise;
    if (now_ - most <= since) continue;
    stand.waits_since = never;
    violated(Rule::served_in_time, "client " + std::to_string(client) + " waits, nobody holds the lock, and nobody " +
                                       "is in the way since " +
                                       std::to_string(static_cast<double>((now_ - since).count()) / 1e6) + " ms");
  }
}

/// For histories without claims: the client has requests, none of them is served, and it can run.
void Checker::waits_outside(std::uint8_t client, std::uint8_t name) {
  Stand& stand = clients_[client].lines[name];
  if (stand.line.empty() || stand.waits_since != never || clients_[client].paused) return;
  const auto& holds = names_[name].holds;
  if (std::none_of(holds.begin(), holds.end(),
                   [&](std::uint32_t at) { return live(holds_[at]) && holds_[at].client == client; })) {
    stand.waits_since = now_;
  }
}

void Checker::waits_are_bounded() {
  for (std::uint8_t name = 0; name < history_.names; ++name) wait_is_bounded(name);
}

}  // namespace holdfast::sim
