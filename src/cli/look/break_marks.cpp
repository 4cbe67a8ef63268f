#include "cli/look/break_marks.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "holdfast/register.hpp"

namespace holdfast::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* register_name = "holdfast/broken";
constexpr std::size_t most_marks = 32;

/// An array of `[name, kind, number]`, the oldest first. What others may have written there counts as nothing.
std::vector<BreakMark> from_text(const std::string& text) {
  std::vector<BreakMark> marks;
  try {
    for (const Json& entry : Json::parse(text)) {
      marks.push_back({entry.at(0), static_cast<LockKind>(entry.at(1).get<int>()), entry.at(2)});
    }
  } catch (const Json::exception&) {
    marks.clear();
  }
  return marks;
}

std::string to_text(const std::vector<BreakMark>& marks) {
  Json array = Json::array();
  for (const BreakMark& mark : marks) array.push_back({mark.name, static_cast<int>(mark.kind), mark.up_to});
  return array.dump();
}

}  // namespace

void leave_mark(Client& client, const BreakMark& mark) {
  Register(client, register_name).update([&](const std::string& text) {
    std::vector<BreakMark> marks = from_text(text);
    marks.push_back(mark);
    if (marks.size() > most_marks) marks.erase(marks.begin());
    return to_text(marks);
  });
}

std::vector<BreakMark> read_marks(Client& client) { return from_text(Register(client, register_name).get().value); }

bool is_marked(const std::vector<BreakMark>& marks, const std::string& name, LockKind kind, std::uint64_t number) {
  return std::any_of(marks.begin(), marks.end(), [&](const BreakMark& mark) {
    return mark.name == name && mark.kind == kind && number <= mark.up_to;
  });
}

}  // namespace holdfast::cli
