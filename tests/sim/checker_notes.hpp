#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/checker.hpp"
#include "sim/history.hpp"
#include "spi/claims.hpp"

// Inside the checker.
//
// One pass. Per name: who claims to hold it, and until when nobody need be served because somebody who stands in the
// way is dead or troubled. Per client and name: its claim in the store, and since when it waits there without any
// excuse. Before anything changes that could end a wait, wait_is_bounded() looks whether it has lasted too long.
//
// Deliberately lenient: after its troubles a client has a third of its lease to get over them. Until then its own
// waiting does not count, and whoever stands in line with it may have to wait.
//
// In a history that is not exact (History::exact) nothing is known of claims: a client waits from its first request to
// its last answer, and whoever is paused or dies stands in everybody's way until its lease has ended.
//
// When a store has forgotten everything (What::forgot), others are served while its holders still believe in their
// holds. Only from the end of that time on do holds exclude each other again, and none from before may be left.

namespace holdfast::sim {

class Checker {
 public:
  explicit Checker(const History& history) : history_(history), clients_(history.clients) {
    for (auto& client : clients_) client.lines.resize(history.names);
  }

  std::vector<Violation> run();

 private:
  static constexpr std::size_t enough_violations = 8;
  static constexpr std::size_t most_names = 8;
  static constexpr std::uint32_t nobody = 0xFFFFFFFF;
  static constexpr Moment long_ago = Moment::min();
  /// For what happens between a cause and its effect, beside the network.
  static constexpr Duration slack = milliseconds(5);

  /// `lease` on a clock that may be slow.
  static Duration at_most(Duration lease) { return lease + lease * 6 / 1000; }
  /// `lease` on a clock that may be fast.
  static Duration at_least(Duration lease) { return lease - lease * 12 / 1000; }
  static Duration length_of(const Event& event) { return milliseconds(event.length); }

  struct TurnNotes {
    Moment entered_at = never;
    Moment answer_by = never;
    Moment cancelled_at = never;
    Duration patience = {};
    std::uint64_t newest_token = 0;  ///< of the name, when it entered
    std::uint32_t hold = nobody;
    Duration lock_delay = {};
    int unheard = 0;        ///< releases and extensions whose outcome it wants to hear
    bool too_late = false;  ///< it released after V, or after it was lost
    std::uint8_t client = 0;
    bool answered = false;
  };

  struct Hold {
    std::uint64_t token = 0;
    Moment granted_at = {};
    Moment valid_until = {};
    Moment lost_at = never;
    Moment risk_since = never;  ///< a renewal failed, and the listener was not told yet
    Duration lock_delay = {};
    Moment closed_until = long_ago;  ///< it ended by itself, with a lock delay
    std::uint32_t turn = 0;
    std::uint32_t claim = nobody;
    ClaimMode mode = ClaimMode::exclusive;
    std::uint8_t permits = 1;
    std::uint8_t client = 0;
    std::uint8_t name = 0;
    bool listens = false;
    bool at_risk = false;
    bool told_lost = false;
    bool ended = false;
    bool orphan = false;  ///< its client crashed
  };

  struct ClaimNotes {
    Moment sent_at = never;
    Moment armed_until = long_ago;   ///< in the store, at most; long ago: it is not there
    Moment surely_until = long_ago;  ///< at least
    Duration lease = {};
    Duration lock_delay = {};
    std::uint64_t number = 0;  ///< of its last grant
    std::uint32_t place = 0;   ///< when it joined the line: later is larger; 0: it is not known
    std::uint8_t client = 0;
    std::uint8_t name = 0;
    bool given_back = false;  ///< a release was sent
    bool released = false;    ///< it was withdrawn in the store; nobody asked for the claim since
    bool ever_released = false;
    bool confirmed = false;  ///< a release was answered
    bool over = false;       ///< the client knows that it is not in the store
    bool granted = false;
    bool unclean = false;  ///< a hold on it was lost, with a lock delay: giving the rest back does not open the name

    bool must_be_gone() const { return released && confirmed; }
    bool abandoned() const { return given_back || over; }
    void withdrawn() {
      armed_until = surely_until = long_ago;
      granted = false;
      released = ever_released = true;
    }
  };

  /// What a client has in the store's line of one name.
  struct Stand {
    Moment waits_since = never;  ///< without an excuse; never: not at present
    Duration lease = {};
    std::uint32_t claim = nobody;
    std::uint8_t permits = 1;
    std::vector<std::uint32_t> line = {};  ///< the turns inside the client
    int extensions = 0;                    ///< that were asked for and not answered yet
  };

  struct Client {
    Moment opened_at = never;
    Moment resumed_at = long_ago;
    Moment troubled_until = long_ago;
    Moment renewal_failed_at = long_ago;
    bool paused = false;
    std::vector<Stand> lines = {};
  };

  /// What follows one grant by the store.
  struct HoldGroup {
    std::uint64_t number = 0;
    Moment began = {};
    std::uint32_t last_hold = nobody;
  };

  /// The store had lost all its claims, and not everybody knew it yet.
  struct Amnesia {
    Moment from = {};
    Moment until = {};
  };

  struct Name {
    std::vector<std::uint32_t> holds = {};  ///< that may still be valid
    std::uint64_t last_token = 0;
    std::uint64_t last_writers_token = 0;
    std::uint64_t last_number = 0;  ///< that the store gave with a grant
    std::uint64_t largest_written = 0;
    Moment blocked_until = long_ago;
    Moment last_progress = long_ago;
    std::vector<HoldGroup> groups = {};
  };

  // checker_users.cpp
  void read_turn(const Event& event);
  void entered(const Event& event);
  void answered(const Event& event);
  void granted(const Event& event);
  void check_exclusion(const Event& event);
  void check_token(const Event& event);
  bool is_known_of_old(const Event& event) const;
  void sampled(const Event& event);
  void check_times_of_hold(const Event& event);
  void hold_ended(const Event& event);
  static void stays_closed(Hold& hold);
  void told(const Event& event);
  void wrote(const Event& event);
  void heard_of(const Event& event);

  // checker_claims.cpp
  void read_claim(const Event& event);
  void renewal_failed(const Event& event);
  void sent(const Event& event);
  void withdrawn(const Event& event);
  bool armed(const Event& event);
  void executed(const Event& event);
  void granted_in_store(const Event& event);
  void wait_is_bounded(std::uint8_t name);
  void waits_are_bounded();
  void waits_outside(std::uint8_t client, std::uint8_t name);
  void block(std::uint8_t name, Moment until) {
    names_[name].blocked_until = std::max(names_[name].blocked_until, until);
  }

  // checker.cpp
  void read_client(const Event& event);
  void troubled(const Event& event);
  void forgot(const Event& event);
  void resumed(std::uint8_t client);
  void leaves_the_line(std::uint8_t client);
  void stop_waiting(std::uint8_t client);
  void block_everything(Moment moment);
  void closed(const Event& event);
  void forget(std::uint8_t client);
  void at_the_end();

  TurnNotes& turn(const Event& event) { return at(turns_, event.subject); }
  ClaimNotes& claim(std::uint32_t index) { return at(claims_, index); }
  Hold* hold(const Event& event) {
    const std::uint32_t index = turn(event).hold;
    return index == nobody ? nullptr : &holds_[index];
  }
  template <class T>
  static T& at(std::vector<T>& items, std::uint32_t index) {
    if (items.size() <= index) items.resize(index + 1U);
    return items[index];
  }

  bool live(const Hold& hold) const { return !hold.ended && !hold.orphan && !clients_[hold.client].paused; }
  bool has_live_hold(const Name& name) const {
    return std::any_of(name.holds.begin(), name.holds.end(), [&](std::uint32_t at) { return live(holds_[at]); });
  }
  /// Of those that may still be valid.
  std::uint32_t permits_held(const Name& name) const {
    std::uint32_t held = 0;
    for (const std::uint32_t at : name.holds) held += live(holds_[at]) ? holds_[at].permits : 0U;
    return held;
  }
  /// When the store granted what the hold lives on, as far as it is known.
  Moment when_claim_was_granted(const Hold& hold) const {
    for (const HoldGroup& group : names_[hold.name].groups) {
      if (history_.local_turns && group.number == hold.token >> 8U) return std::min(group.began, hold.granted_at);
    }
    return hold.granted_at;
  }
  static Moment opens(const ClaimNotes& claim) { return claim.armed_until + at_most(claim.lock_delay); }
  static ClaimMode mode_of(const Event& event) { return static_cast<ClaimMode>(event.mode); }
  /// When a client has got over its troubles: by then it has given back whatever it wanted to give back meanwhile.
  static Moment over_it(const Client& client, Duration lease) {
    return client.troubled_until == long_ago ? long_ago : client.troubled_until + at_most(lease / 3) + slack;
  }
  /// What happened to a client at `moment` is known to its threads by then.
  Moment noticed_by(std::uint8_t client, Moment moment) const {
    return history_.exact ? moment : std::max(moment, clients_[client].resumed_at) + history_.noise;
  }
  /// Until when holds from before the store's last loss may be believed in.
  Moment forgotten_by() const { return amnesias_.empty() ? long_ago : amnesias_.back().until; }
  void violated(Rule rule, std::string what) { violations_.push_back({rule, now_, std::move(what)}); }
  static std::string turn_text(const Event& event) { return "turn " + std::to_string(event.subject); }

  const History& history_;
  Moment now_ = {};
  std::vector<Violation> violations_;
  std::vector<Client> clients_;
  std::array<Name, most_names> names_;
  std::vector<TurnNotes> turns_;
  std::vector<Hold> holds_;
  std::vector<ClaimNotes> claims_;
  std::vector<Amnesia> amnesias_;
  std::uint32_t joined_ = 0;
};

}  // namespace holdfast::sim
