#include "cli/demo/timeline.hpp"

#include <algorithm>
#include <cstdio>

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;

constexpr std::size_t page = 78;
constexpr std::size_t clock_columns = 8;
constexpr std::size_t text_columns = 33;  // and a bar and a blank in front, and a blank behind
static_assert(clock_columns + 2 * (2 + text_columns) + 1 < 80);

constexpr std::string_view bold = "1";
constexpr std::string_view dim = "2";

std::string_view code_of(Mood mood) {
  switch (mood) {
    case Mood::plain: return "";
    case Mood::good: return "32";
    case Mood::bad: return "1;31";
    case Mood::warning: return "33";
  }
  return "";
}

struct Phrase {
  std::string text;
  Mood mood = Mood::plain;
};

Phrase phrase_of(const Event& event) {
  const std::string token = to_string(Token(event.token));
  switch (event.kind) {
    case Kind::begins: return {"cron starts the job"};
    case Kind::waits: return {"somebody holds the lock: waits", Mood::warning};
    case Kind::acquired: return {"gets the lock, token " + token, Mood::good};
    case Kind::checked: return {"checks the lock: mine. Will send"};
    case Kind::sent: return {">> SMS sent", Mood::good};
    case Kind::refused: return {"xx SMS REFUSED by the gateway: token " + token + " is old", Mood::bad};
    case Kind::skips: return {"done already this hour: skips", Mood::good};
    case Kind::released: return {"gives the lock back"};
    case Kind::lost: return {"checks again: the lock is lost", Mood::warning};
    case Kind::killed: return {"KILLED (kill -9)", Mood::bad};
    case Kind::stopped: return {"PAUSED (SIGSTOP)", Mood::bad};
    case Kind::resumed: return {"WAKES UP (SIGCONT), goes on", Mood::warning};
    case Kind::failed:
    case Kind::left: break;
  }
  return {};
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(word);
  }
  return lines;
}

std::string Timeline::act(int number, std::string_view title, std::string_view explanation) {
  lanes_ = {};
  std::string text = "\n" + heading("Act " + std::to_string(number) + ": " + std::string(title));
  for (const std::string& line : wrapped(explanation, page)) text += line + "\n";
  if (!look_.lanes) return text;
  std::string titles(clock_columns, ' ');
  titles += "  " + std::string(name_of(HostId::a));
  titles.resize(clock_columns + 2 + text_columns + 1, ' ');
  return text + painted(bold, titles + "  " + std::string(name_of(HostId::b))) + "\n";
}

std::string Timeline::legend() const {
  if (!look_.lanes) return {};
  const auto entry = [&](const Lane& lane, std::string_view meaning) { return bar(lane) + " " + std::string(meaning); };
  return entry({.present = true, .lock = Lane::Lock::held}, "holds the lock   ") +
         entry({.lock = Lane::Lock::left_behind}, "dead or paused, still has the lock   ") +
         entry({.present = true}, "works without it") + "\n";
}

std::string Timeline::heading(std::string_view text) const { return painted(bold, text) + "\n"; }

std::string Timeline::result(Mood mood, std::string_view text) const {
  std::string all;
  for (const std::string& line : wrapped(text, page - 3)) {
    all += (all.empty() ? "=> " : "   ") + painted(code_of(mood), line) + "\n";
  }
  return all;
}

std::string Timeline::event(const Event& event) {
  follow(event);
  const Phrase phrase = phrase_of(event);
  if (phrase.text.empty()) return {};
  const std::string time = clock(event.time());
  if (!look_.lanes) return time + std::string(name_of(event.host)) + "  " + phrase.text + "\n";
  return rows(time, event.host, wrapped(phrase.text, text_columns), phrase.mood);
}

std::string Timeline::tick(Instant now) const { return look_.lanes ? row(clock(now), "", "", Mood::plain) : ""; }

void Timeline::follow(const Event& event) {
  Lane& own = lane_of(event.host);
  Lane& other = lane_of(event.host == HostId::a ? HostId::b : HostId::a);
  switch (event.kind) {
    case Kind::begins: own.present = true; break;
    case Kind::acquired:
      own.lock = Lane::Lock::held;
      other.lock = Lane::Lock::none;
      break;
    case Kind::released:
    case Kind::lost: own.lock = Lane::Lock::none; break;
    case Kind::killed:
    case Kind::stopped:
      own.present = event.kind == Kind::stopped;
      if (own.lock == Lane::Lock::held) own.lock = Lane::Lock::left_behind;
      break;
    case Kind::left: own.present = false; break;
    default: break;
  }
}

std::string Timeline::rows(std::string time, HostId host, const std::vector<std::string>& lines, Mood mood) const {
  std::string all;
  for (const std::string& line : lines) {
    all += host == HostId::a ? row(time, line, "", mood) : row(time, "", line, mood);
    time.assign(clock_columns, ' ');
  }
  return all;
}

std::string Timeline::row(std::string_view time, std::string_view a, std::string_view b, Mood mood) const {
  const std::string gap(text_columns + 1 - a.size(), ' ');
  const std::string line = painted(dim, time) + bar(lanes_[0]) + " " + painted(code_of(mood), a) + gap +
                           bar(lanes_[1]) + " " + painted(code_of(mood), b);
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string Timeline::bar(const Lane& lane) const {
  switch (lane.lock) {
    case Lane::Lock::held: return painted(code_of(Mood::good), look_.utf8 ? "█" : "#");
    case Lane::Lock::left_behind: return painted(code_of(Mood::warning), look_.utf8 ? "▒" : ":");
    case Lane::Lock::none: break;
  }
  return lane.present ? painted(dim, look_.utf8 ? "│" : "|") : " ";
}

std::string Timeline::painted(std::string_view code, std::string_view text) const {
  if (!look_.colours || code.empty() || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string Timeline::clock(Instant now) const {
  std::array<char, 32> text{};
  const std::chrono::duration<double> passed = now - beginning_;
  std::snprintf(text.data(), text.size(), "%5.1fs  ", passed.count());
  return text.data();
}

}  // namespace holdfast::cli::demo
