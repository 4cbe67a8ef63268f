// Plans and histories for people.

#include <array>
#include <iomanip>
#include <sstream>

#include "sim/history.hpp"
#include "sim/plan.hpp"
#include "spi/claims.hpp"

namespace holdfast::sim {

namespace {

std::string milliseconds_of(Duration duration) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << static_cast<double>(duration.count()) / 1e6;
  return text.str();
}

std::string milliseconds_of(Moment moment) {
  return moment == never ? "never" : milliseconds_of(moment.time_since_epoch());
}

std::string quoted(std::uint8_t name) { return std::string("'") + static_cast<char>('a' + name) + "'"; }

const char* text_of(HoldState state) {
  switch (state) {
    case HoldState::held: return "held";
    case HoldState::at_risk: return "at_risk";
    case HoldState::lost: return "lost";
    case HoldState::released: return "released";
  }
  return "?";
}

const char* text_of(Released released) {
  switch (released) {
    case Released::released: return "released";
    case Released::not_held: return "not held";
    case Released::in_doubt: return "in doubt";
  }
  return "?";
}

const char* text_of(Request request) {
  switch (request) {
    case Request::acquire: return "acquire";
    case Request::renew: return "renew";
    case Request::release: return "release";
    case Request::downgrade: return "downgrade";
  }
  return "?";
}

const char* text_of(spi::ClaimAnswer::Standing standing) {
  switch (standing) {
    case spi::ClaimAnswer::Standing::granted: return "granted";
    case spi::ClaimAnswer::Standing::waiting: return "waiting";
    case spi::ClaimAnswer::Standing::absent: return "absent";
  }
  return "?";
}

const char* text_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::lose_requests: return "lose requests";
    case FaultKind::lose_replies: return "lose replies";
    case FaultKind::repeat_requests: return "repeat requests";
    case FaultKind::delay_messages: return "delay messages";
    case FaultKind::disturb_pushes: return "disturb pushes";
    case FaultKind::slow_link: return "slow link";
    case FaultKind::cut_link: return "cut link";
    case FaultKind::stop_store: return "stop store";
    case FaultKind::pause: return "pause";
    case FaultKind::crash: return "crash";
    case FaultKind::close: return "close";
  }
  return "?";
}

const char* text_of(Waiting waiting) {
  switch (waiting) {
    case Waiting::pushed: return "grants are pushed";
    case Waiting::watched: return "changes are hinted at";
    case Waiting::polled: return "clients poll";
  }
  return "?";
}

std::string text_of(Errc code) { return make_error_code(code).message(); }

std::string answer_of(const Event& event) {
  const auto standing = static_cast<spi::ClaimAnswer::Standing>(event.standing);
  if (static_cast<Request>(event.detail) == Request::release) {
    return standing == spi::ClaimAnswer::Standing::absent ? "was not there" : "was there";
  }
  std::string text = text_of(standing);
  if (event.value != 0) text += " number " + std::to_string(event.value);
  return text;
}

std::string text_of(ClaimMode mode, unsigned permits) {
  switch (mode) {
    case ClaimMode::exclusive: return "";
    case ClaimMode::shared: return " shared";
    case ClaimMode::permits: return " " + std::to_string(permits) + " permits";
  }
  return "?";
}

std::string mode_of(const Event& event) { return text_of(static_cast<ClaimMode>(event.mode), event.permits); }

std::string token_of(std::uint64_t token) {
  return std::to_string(token) + " (" + std::to_string(token >> 8U) + "." + std::to_string(token & 0xFFU) + ")";
}

std::string about_user(const Event& event) {
  const std::string turn = "turn " + std::to_string(event.subject) + " " + quoted(event.name) + " ";
  const std::string until = " until " + milliseconds_of(event.until);
  switch (event.what) {
    case What::entered:
      return turn + "enters" + mode_of(event) + ", ttl " + std::to_string(event.length) +
             (event.detail != 0 ? ", will not wait" : "") + ", deadline " + milliseconds_of(event.until);
    case What::cancels: return turn + "cancels";
    case What::granted: return turn + "GRANTED" + mode_of(event) + " token " + token_of(event.value) + until;
    case What::answered: return turn + "answered: " + text_of(static_cast<Errc>(event.detail));
    case What::renewed: return turn + "renewed" + until;
    case What::sampled: return turn + "sees " + text_of(static_cast<HoldState>(event.detail)) + "," + until;
    case What::told: return turn + "is told " + text_of(static_cast<HoldState>(event.detail));
    case What::lost: return turn + "LOST, was valid" + until;
    case What::releases: return turn + "RELEASES, was valid" + until;
    case What::released: return turn + "hears: " + text_of(static_cast<Released>(event.detail));
    case What::extends: return turn + "extends by " + std::to_string(event.length);
    case What::extended:
      return turn + "extended: " + (event.detail == 0 ? "yes" : text_of(static_cast<Errc>(event.detail)));
    case What::downgrades: return turn + "DOWNGRADES, valid" + until;
    case What::downgraded:
      return turn + "downgraded: " + (event.detail == 0 ? "yes" : text_of(static_cast<Errc>(event.detail)));
    case What::holds_on: return turn + "holds on claim " + std::to_string(event.value);
    case What::wrote:
      return turn + "write " + (event.detail != 0 ? "accepted" : "refused") + ", token " + token_of(event.value) +
             ", sent " + milliseconds_of(event.until);
    default: return {};
  }
}

std::string about_claim(const Event& event) {
  const std::string claim = "claim " + std::to_string(event.subject) + " " + quoted(event.name) + " ";
  const std::string request = text_of(static_cast<Request>(event.detail));
  switch (event.what) {
    case What::sent:
      return claim + "-> " + request + mode_of(event) + " for " + std::to_string(event.length) +
             (event.value != 0 ? ", replaces claim " + std::to_string(event.value - 1) : "");
    case What::replaced: return claim + "   store: is replaced";
    case What::executed: return claim + "   store: " + request + ": " + answer_of(event);
    case What::kept: return claim + "   store: is kept";
    case What::failed: return claim + "<- " + request + ": " + text_of(static_cast<Errc>(event.standing));
    case What::heard: return claim + "<- " + request + ": " + answer_of(event);
    case What::store_granted: return claim + "   store: grants number " + std::to_string(event.value);
    case What::pushed: return claim + "<- pushed: granted number " + std::to_string(event.value);
    case What::hinted: return claim + "<- hint";
    case What::unheard: return claim + "   a message is lost";
    default: return {};
  }
}

std::string about_client(const Event& event) {
  switch (event.what) {
    case What::opened: return "opened, life " + std::to_string(event.value);
    case What::troubled:
      return std::string(text_of(static_cast<FaultKind>(event.detail))) + " until " + milliseconds_of(event.until);
    case What::paused: return "PAUSED";
    case What::resumed: return "RESUMED";
    case What::crashed: return "CRASHED";
    case What::closing: return "closes";
    case What::closed: return event.value == 0 ? "closed" : "closed, LEFT something behind";
    case What::ended: return event.value == 0 ? "the end" : "the end; the store still has claims";
    case What::hung: return "HUNG";
    case What::forgot: return "the store forgets everything, believed in until " + milliseconds_of(event.until);
    default: return {};
  }
}

}  // namespace

std::string to_text(const Event& event) {
  std::string what = about_user(event);
  if (what.empty()) what = about_claim(event);
  if (what.empty()) what = about_client(event);
  std::ostringstream text;
  text << std::setw(12) << milliseconds_of(event.at) << "  "
       << (event.client == Event::everybody ? "everybody" : "client " + std::to_string(event.client)) << "  " << what;
  return text.str();
}

std::string to_text(const History& history) {
  std::string text;
  for (const Event& event : history.events) text += to_text(event) + '\n';
  return text;
}

std::string to_text(const Turn& turn) {
  std::ostringstream text;
  text << "client " << int{turn.client} << " thread " << int{turn.thread} << ": thinks " << milliseconds_of(turn.thinks)
       << ", wants " << quoted(turn.name) << text_of(turn.mode, turn.permits) << " ttl " << turn.ttl.count();
  if (turn.lock_delay > milliseconds::zero()) text << " lock_delay " << turn.lock_delay.count();
  if (turn.fixed_lease) text << " fixed";
  if (turn.refuses_to_wait) text << ", will not wait";
  if (turn.deadline > microseconds::zero()) text << ", deadline " << milliseconds_of(turn.deadline);
  if (turn.cancels_after > microseconds::zero()) text << ", cancels after " << milliseconds_of(turn.cancels_after);
  if (turn.max_hold > milliseconds::zero()) text << ", max_hold " << turn.max_hold.count();
  if (turn.ending == Ending::forget) {
    text << ", holds until it is lost";
  } else {
    text << ", holds " << milliseconds_of(turn.holds);
  }
  if (turn.ending == Ending::release_and_hear) text << ", hears of the release";
  if (turn.listens) text << ", listens";
  if (turn.writes_after > microseconds::zero()) text << ", writes after " << milliseconds_of(turn.writes_after);
  if (turn.extends_after > microseconds::zero()) {
    text << ", extends by " << turn.extends_by.count() << " after " << milliseconds_of(turn.extends_after);
  }
  if (turn.downgrades_after > microseconds::zero()) {
    text << ", downgrades after " << milliseconds_of(turn.downgrades_after);
  }
  return text.str();
}

std::string to_text(const Fault& fault) {
  std::ostringstream text;
  text << "at " << milliseconds_of(fault.at) << " for " << milliseconds_of(fault.length) << ": " << text_of(fault.kind);
  if (fault.per_mille != 1000) text << ", " << fault.per_mille << " of 1000";
  text << ", " << (fault.client == Fault::everybody ? "everybody" : "client " + std::to_string(fault.client));
  return text.str();
}

std::string to_text(const Plan& plan) {
  std::ostringstream text;
  text << "seed " << plan.seed << ": " << int{plan.clients} << " clients, " << int{plan.names} << " names, "
       << text_of(plan.waiting);
  if (plan.waiting == Waiting::polled) text << " every " << plan.poll_interval.count();
  text << (plan.session_leases ? ", a lease for all claims of a client" : "")
       << (plan.lazy_expiry ? ", leases end when somebody looks" : "") << ", " << plan.local_turns << " local turns"
       << (plan.keeps_mutexes ? ", mutexes are kept" : "") << ", connect_timeout " << plan.connect_timeout.count()
       << ", clock rates (ppm): store " << plan.store_ppm << ", clients";
  for (const std::int32_t ppm : plan.client_ppm) text << ' ' << ppm;
  for (std::uint8_t name = 0; name < plan.names; ++name) {
    if (plan.limits[name] > 0) text << ", " << quoted(name) << " has " << int{plan.limits[name]} << " permits";
  }
  text << "\n(times in milliseconds)\n";
  for (const Fault& fault : plan.faults) text << "  " << to_text(fault) << '\n';
  for (std::size_t i = 0; i < plan.turns.size(); ++i) text << "  turn " << i << ", " << to_text(plan.turns[i]) << '\n';
  return text.str();
}

std::uint64_t History::hash() const {
  std::uint64_t hash = 0xCBF29CE484222325U;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3U ^ (hash >> 29U); };
  for (const Event& event : events) {
    add(static_cast<std::uint64_t>(event.at.time_since_epoch().count()));
    add(static_cast<std::uint64_t>(event.until.time_since_epoch().count()));
    add(event.value);
    add(std::uint64_t{event.subject} << 32U | event.length);
    add(static_cast<std::uint64_t>(event.what) << 32U | std::uint64_t{event.client} << 24U |
        std::uint64_t{event.name} << 16U | std::uint64_t{event.detail} << 8U | event.standing);
    add(std::uint64_t{event.mode} << 16U | std::uint64_t{event.permits} << 8U | event.lock_delay);
  }
  return hash;
}

}  // namespace holdfast::sim
