#include "cli/text/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
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
constexpr std::array units{Unit{"w", 604'800'000}, Unit{"d", 86'400'000}, Unit{"h", 3'600'000},
                           Unit{"m", 60'000},      Unit{"s", 1'000},      Unit{"ms", 1}};

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

std::optional<std::int64_t> number_in(std::string_view digits) {
  std::int64_t number = 0;
  const std::errc error = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec;
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// What stands behind the point, in milliseconds.
std::int64_t fraction_of(const Unit& unit, std::string_view decimals, std::string_view text) {
  constexpr std::size_t most_decimals = 9;  // so that the product fits
  if (decimals.empty()) return 0;
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < decimals.size() && i < most_decimals; ++i) scale *= 10;
  const std::int64_t product = number_in(decimals.substr(0, most_decimals)).value_or(0) * unit.milliseconds;
  if (decimals.size() > most_decimals || product % scale != 0) refuse(text, "it is finer than a millisecond");
  return product / scale;
}

constexpr auto examples = "write it like 500ms, 10s, 5m, 1h30m, 1.5h, 1d or 1w";

/// The next number and its unit, in milliseconds; takes them off `rest`. Larger units than `next_unit` were there
/// before.
std::int64_t take_part(std::string_view text, std::string_view& rest, std::size_t& next_unit) {
  const std::string_view digits = take_while(rest, is_digit);
  std::string_view decimals;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    decimals = take_while(rest, is_digit);
    if (decimals.empty()) refuse(text, examples);
  }
  const std::string_view name = take_while(rest, is_letter);
  if (digits.empty()) refuse(text, examples);
  if (name.empty() && rest.empty()) {
    refuse(text, "it has no unit; did you mean " + std::string(text) + "s or " + std::string(text) + "ms?");
  }
  while (next_unit < units.size() && units[next_unit].name != name) ++next_unit;
  if (next_unit == units.size()) refuse(text, examples);
  const Unit& unit = units[next_unit++];
  if (!decimals.empty() && !rest.empty()) refuse(text, "only its last part can have a fraction");

  const std::optional<std::int64_t> count = number_in(digits);
  if (!count || *count > longest / unit.milliseconds) refuse(text, "it is too long");
  return *count * unit.milliseconds + fraction_of(unit, decimals, text);
}

}  // namespace

milliseconds parse_duration(std::string_view text) {
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  std::string_view rest = text;
  do {
    total += take_part(text, rest, next_unit);
    if (total > longest) refuse(text, "it is too long");
  } while (!rest.empty());
  return milliseconds(total);
}

}  // namespace holdfast::cli
