#include "faults/recording.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "holdfast/error.hpp"
#include "sim/plan.hpp"

namespace holdfast::faults {

namespace {

using sim::Event;
using sim::What;

constexpr auto valid = static_cast<std::uint8_t>(HoldState::held);
constexpr auto invalid = static_cast<std::uint8_t>(HoldState::lost);

/// By time; what happened at the same time stays as it was. (Clang calls libstdc++'s std::stable_sort deprecated.)
template <class Timed>
void put_in_order(std::vector<Timed>& all) {
  std::multimap<decltype(Timed::at), Timed> ordered;
  for (Timed& each : all) {
    const auto at = each.at;
    ordered.emplace(at, std::move(each));
  }
  all.clear();
  for (auto& [at, each] : ordered) all.push_back(std::move(each));
}

/// The notes of one turn, in the order of time.
struct Turn {
  const Testimony* life = nullptr;
  std::vector<Note> notes = {};

  const Note* first(Noted what) const {
    const auto found = std::find_if(notes.begin(), notes.end(), [&](const Note& note) { return note.what == what; });
    return found == notes.end() ? nullptr : &*found;
  }
  Moment time_of(Noted what) const {
    const Note* const note = first(what);
    return note == nullptr ? never : note->at;
  }
  /// When its user knew that it is lost, by looking or by being told; never: not before letting go of it.
  Moment lost() const {
    Moment moment = time_of(Noted::told);
    for (const Note& note : notes) {
      if (note.what == Noted::looked && note.detail == 0) moment = std::min(moment, note.after);
    }
    return moment < time_of(Noted::releases) ? moment : never;
  }
  /// The last moment at which its user is known to have counted on it.
  Moment claimed_until() const {
    Moment seen = time_of(Noted::granted);
    Moment counted = seen;
    for (const Note& note : notes) {
      if (note.what != Noted::looked || note.detail == 0) continue;
      seen = std::max(seen, note.at);
      counted = std::max(counted, note.until);
    }
    if (lost() < counted) counted = seen;
    return std::min({counted, time_of(Noted::releases), life->killed});
  }
};

/// Makes the history, one turn after the other, and then puts it in order.
class Historian {
 public:
  explicit Historian(const Recording& recording) : recording_(recording) {
    history_.clients = recording.processes;
    history_.names = recording.names;
    history_.connect_timeout = std::chrono::seconds(5);
    history_.exact = false;
    history_.noise = recording.noise;
    history_.longest_lease = recording.ttl;
  }

  sim::History tell() && {
    for (const Testimony& life : recording_.lives) tell(life);
    for (const Trouble& trouble : recording_.troubles) tell(trouble);
    tell_of_writes();
    put_in_order(history_.events);
    add({.at = recording_.ended, .value = recording_.store_is_empty ? 0U : 1U, .what = What::ended});
    for (Event& event : history_.events) {
      event.at = since_the_start(event.at);
      event.until = since_the_start(event.until);
    }
    return std::move(history_);
  }

 private:
  void add(const Event& event) { history_.events.push_back(event); }

  Moment since_the_start(Moment moment) const {
    if (moment == never || moment == Moment()) return moment;
    return Moment(moment - recording_.lives.front().started);
  }

  void tell(const Testimony& life) {
    add({.at = life.started, .what = What::opened, .client = life.slot});
    for (const Testimony::Pause& pause : life.pauses) {
      add({.at = pause.from, .what = What::paused, .client = life.slot});
      if (pause.until != never) add({.at = pause.until, .what = What::resumed, .client = life.slot});
    }
    std::map<std::uint32_t, Turn> turns;
    for (const Note& note : life.notes) {
      if (note.what == Noted::closes) {
        add({.at = note.at, .what = What::closing, .client = life.slot});
        continue;
      }
      if (note.what == Noted::stops) add({.at = note.at, .what = What::paused, .client = life.slot});
      Turn& turn = turns[note.turn];
      turn.life = &life;
      turn.notes.push_back(note);
    }
    for (auto& [number, turn] : turns) tell(turn);
    const What end = life.gone == never ? What::hung : life.killed != never ? What::crashed : What::closed;
    add({.at = std::min(life.gone, recording_.ended), .what = end, .client = life.slot});
  }

  void tell(const Trouble& trouble) {
    const auto kind = static_cast<std::uint8_t>(sim::FaultKind::stop_store);
    if (trouble.away) add({.at = trouble.from, .until = trouble.until, .what = What::troubled, .detail = kind});
    // A renewal that the store still acknowledged was sent before: nobody counts on it for longer than a lease.
    if (trouble.forgets) add({.at = trouble.from, .until = trouble.until + recording_.ttl, .what = What::forgot});
  }

  void tell(Turn& turn) {
    put_in_order(turn.notes);
    const Moment lost = turn.lost();
    for (const Note& note : turn.notes) {
      if (const auto event = told_by(turn, note)) add(about(turn, note, *event));
    }
    if (lost != never) add(about(turn, turn.notes.front(), {.at = lost, .until = never, .what = What::lost}));
    if (const Note* granted = turn.first(Noted::granted)) by_token_[{granted->name, granted->value}] = subject_;
    for (const Note& note : turn.notes) {
      if (note.what == Noted::writes) attempts_[{note.name, note.value}] = note.at;
    }
    ++subject_;
  }

  std::optional<Event> told_by(const Turn& turn, const Note& note) const {
    switch (note.what) {
      case Noted::asks: return Event{.until = note.until, .what = What::entered};
      case Noted::answered: return Event{.until = never, .what = What::answered};
      case Noted::granted: return Event{.until = turn.claimed_until(), .what = What::granted};
      case Noted::looked:
        return Event{.at = note.detail != 0 ? note.at : note.after,
                     .until = never,
                     .what = What::sampled,
                     .detail = note.detail != 0 ? valid : invalid};
      case Noted::told: return Event{.what = What::told, .detail = invalid};
      case Noted::reads:
      case Noted::wrote:  // what was accepted is in the journal
        if (note.detail != 0) return std::nullopt;
        return Event{.until = note.at, .what = What::wrote};
      case Noted::releases: return Event{.until = never, .what = What::releases};
      case Noted::released: return Event{.what = What::released};
      default: return std::nullopt;
    }
  }

  Event about(const Turn& turn, const Note& note, Event event) const {
    if (event.at == Moment()) event.at = note.at;
    event.value = note.value;
    event.subject = subject_;
    event.length = static_cast<std::uint32_t>(recording_.ttl.count());
    event.client = turn.life->slot;
    event.name = note.name;
    if (event.what != What::sampled && event.what != What::told) event.detail = note.detail;
    return event;
  }

  /// In the order of the journals. A write is placed at the earliest moment at which it can have been applied.
  void tell_of_writes() {
    for (std::uint8_t name = 0; name < recording_.journals.size(); ++name) {
      Moment last = {};
      for (const FencedResource::Entry& entry : recording_.journals[name]) {
        const auto attempt = attempts_.find({name, entry.token});
        const auto turn = by_token_.find({name, entry.token});
        if (!entry.write || attempt == attempts_.end() || turn == by_token_.end()) continue;
        last = std::max(last, attempt->second);
        add({.at = last,
             .until = attempt->second,
             .value = entry.token,
             .subject = turn->second,
             .what = What::wrote,
             .client = 0,
             .name = name,
             .detail = 1});
      }
    }
  }

  using Key = std::pair<std::uint8_t, std::uint64_t>;  // name and token

  const Recording& recording_;
  sim::History history_;
  std::uint32_t subject_ = 0;
  std::map<Key, std::uint32_t> by_token_;
  std::map<Key, Moment> attempts_;
};

void judge_journal(const Recording& recording, std::uint8_t name, std::vector<sim::Violation>& violations) {
  std::set<std::uint64_t> granted;
  for (const Testimony& life : recording.lives) {
    for (const Note& note : life.notes) {
      if (note.what == Noted::granted && note.name == name) granted.insert(note.value);
    }
  }
  const auto violated = [&](std::uint64_t token, const char* what) {
    violations.push_back({sim::Rule::fenced_writes, Moment(recording.ended - recording.lives.front().started),
                          "token " + std::to_string(token) + what});
  };
  std::map<std::uint64_t, std::size_t> reads;
  std::size_t writes = 0;
  for (const FencedResource::Entry& entry : recording.journals[name]) {
    if (!granted.contains(entry.token)) violated(entry.token, " was used and never granted");
    if (!entry.write) {
      reads[entry.token] = writes;
      continue;
    }
    if (const auto read = reads.find(entry.token); read == reads.end() || read->second != writes) {
      violated(entry.token, " wrote although somebody else had written since it read");
    }
    ++writes;
  }
}

}  // namespace

sim::History history_of(const Recording& recording) { return Historian(recording).tell(); }

std::vector<sim::Violation> judge(const Recording& recording) {
  std::vector<sim::Violation> violations = sim::check(history_of(recording));
  for (std::uint8_t name = 0; name < recording.journals.size(); ++name) judge_journal(recording, name, violations);
  return violations;
}

Statistics statistics_of(const Recording& recording) {
  Statistics statistics;
  for (const Testimony& life : recording.lives) {
    std::map<std::uint32_t, Note> asked;
    std::map<std::uint32_t, Moment> granted;
    std::map<std::uint32_t, Moment> lost;
    for (const Note& note : life.notes) {
      const auto since = [&](Moment moment) { return std::chrono::ceil<milliseconds>(note.at - moment); };
      switch (note.what) {
        case Noted::asks:
          ++statistics.turns;
          asked[note.turn] = note;
          break;
        case Noted::granted:
          ++statistics.grants;
          granted[note.turn] = note.at;
          statistics.longest_wait = std::max(statistics.longest_wait, since(asked[note.turn].at));
          break;
        case Noted::answered: {
          const auto code = static_cast<Errc>(note.detail);
          const bool refused = code == Errc::busy || code == Errc::timed_out;
          const bool away = code == Errc::unreachable || code == Errc::in_doubt;
          ++(refused ? statistics.refusals : away ? statistics.errors : statistics.other_errors);
          const Note& question = asked[note.turn];
          if (life.pauses.empty() && (question.until != never || question.detail != 0)) {
            const Moment due = question.detail != 0 ? question.at : question.until;
            statistics.latest_answer = std::max(statistics.latest_answer, since(due));
          }
          break;
        }
        case Noted::looked:
          if (note.detail == 0) lost.emplace(note.turn, note.after);
          break;
        case Noted::told: lost.emplace(note.turn, note.at); break;
        case Noted::wrote: statistics.refused_writes += note.detail == 0; break;
        case Noted::unfenced: statistics.harmful_writes += note.detail != 0; break;
        default: break;
      }
    }
    statistics.losses += lost.size();
    for (const auto& [turn, moment] : lost) {
      statistics.forgotten += std::any_of(recording.troubles.begin(), recording.troubles.end(), [&](const Trouble& it) {
        return it.forgets && granted[turn] < it.from && it.from < moment;
      });
    }
  }
  return statistics;
}

}  // namespace holdfast::faults
