#include "faults/tool_diary.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace holdfast::faults {

std::string ToolNote::line() const {
  std::ostringstream text;
  text << (kind == Kind::enters ? "enters " : "leaves ") << room << ' ' << token << ' ' << command << ' '
       << at.time_since_epoch().count() << ' ' << taken.count() << '\n';
  return text.str();
}

std::vector<ToolNote> read_diary(const std::filesystem::path& file) {
  std::vector<ToolNote> notes;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    Duration::rep at = 0;
    milliseconds::rep taken = 0;
    ToolNote note;
    if (!(words >> kind >> note.room >> note.token >> note.command >> at >> taken))
      throw std::runtime_error("no note: " + line);
    note.kind = kind == "enters" ? ToolNote::Kind::enters : ToolNote::Kind::leaves;
    note.at = Moment(Duration(at));
    note.taken = milliseconds(taken);
    notes.push_back(note);
  }
  return notes;
}

namespace {

/// For how long a room may have been taken, beyond its time, when this note was made.
milliseconds excused(const ToolNote& note, const std::vector<Stall>& stalls) {
  Duration longest{};
  for (const Stall& stall : stalls) {
    const bool was_then = stall.end + std::chrono::seconds(1) >= note.at && stall.begin <= note.at + note.taken;
    if (was_then) longest = std::max(longest, stall.end - stall.begin);
  }
  return std::chrono::ceil<milliseconds>(longest);
}

}  // namespace

std::vector<std::string> judge(std::vector<ToolNote> notes, const std::vector<Stall>& stalls) {
  std::sort(notes.begin(), notes.end(), [](const ToolNote& a, const ToolNote& b) { return a.at < b.at; });
  std::vector<std::string> violations;
  std::map<std::string, std::uint64_t> last;  // who entered last, for each room
  for (const ToolNote& note : notes) {
    const auto at = std::chrono::duration_cast<milliseconds>(note.at.time_since_epoch());
    const std::string who = std::to_string(at.count()) + " ms, " + note.room + ": the command with token " +
                            std::to_string(note.token) + " (pid " + std::to_string(note.command) + ")";
    std::uint64_t& newest = last[note.room];
    if (note.kind == ToolNote::Kind::leaves) {
      if (note.token < newest) violations.push_back(who + " left after " + std::to_string(newest) + " had entered");
      continue;
    }
    if (note.token <= newest) violations.push_back(who + " entered after " + std::to_string(newest));
    newest = std::max(newest, note.token);
    if (note.taken <= excused(note, stalls)) continue;
    violations.push_back(who + " entered a room that was taken for " + std::to_string(note.taken.count()) + " ms more");
  }
  return violations;
}

}  // namespace holdfast::faults
