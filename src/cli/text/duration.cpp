#include "cli/text/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "cli/exit_code.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

/// From large to small, which is also the order in which they must be written. A letter more wins: `ms` before `m`.
constexpr std::array units{Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000}, Unit{"ms", 1}};

/// Ten thousand years: more than anybody waits, and far from an overflow.
constexpr std::int64_t longest = std::int64_t{10'000} * 365 * 24 * 3'600'000;

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw UsageError(in_quotes(text) + " is not a duration: " + why);
}

std::string_view take_while(std::string_view& text, bool (*wanted)(char)) {
  std::size_t length = 0;
  while (length < text.size() && wanted(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool is_letter(char character) { return character >= 'a' && character <= 'z'; }

}  // namespace

milliseconds parse_duration(std::string_view text) {
  constexpr auto examples = "write it like 500ms, 10s, 5m, 1h or 1h30m";
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  std::string_view rest = text;
  do {
    const std::string_view digits = take_while(rest, is_digit);
    const std::string_view name = take_while(rest, is_letter);
    if (digits.empty()) refuse(text, examples);
    if (name.empty() && rest.empty()) {
      refuse(text, "it has no unit; did you mean " + std::string(text) + "s or " + std::string(text) + "ms?");
    }
    while (next_unit < units.size() && units[next_unit].name != name) ++next_unit;
    if (next_unit == units.size()) refuse(text, examples);

    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    const Unit& unit = units[next_unit++];
    if (error != std::errc{} || count > (longest - total) / unit.milliseconds) refuse(text, "it is too long");
    total += count * unit.milliseconds;
  } while (!rest.empty());
  return milliseconds(total);
}

}  // namespace holdfast::cli
