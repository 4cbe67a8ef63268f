#include "base/url.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/percent.hpp"
#include "holdfast/error.hpp"

// No message repeats any part of the text: a misplaced '?' or ':' can turn a piece of a password into an option's name
// or a scheme. Messages count options instead.

namespace holdfast::base {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(Errc::bad_url, "the store's URL " + what); }

// By hand, because the functions of <cctype> depend on the locale.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string parse_scheme(std::string_view text) {
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; };
  if (text.empty() || !is_letter(text.front()) || !std::all_of(text.begin(), text.end(), allowed)) {
    refuse("must begin with a scheme and a colon, such as sqlite:/path/locks.db");
  }
  std::string scheme(text);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(), lower);
  return scheme;
}

/// '+' stays '+': these are not web forms, and passwords and file names may contain it.
std::string decode(std::string_view text, const std::string& which) {
  std::optional<std::string> decoded = percent_decoded(text, HexDigits::either);
  if (!decoded) refuse("has a '%' without two hexadecimal digits in " + which + "; write %25 for the character itself");
  if (decoded->find('\0') != std::string::npos) refuse("has a NUL byte (%00) in " + which);
  return *std::move(decoded);
}

std::map<std::string, std::string> parse_options(std::string_view text) {
  std::map<std::string, std::string> options;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string which = "option " + std::to_string(number);
    const std::size_t end = text.find('&');
    const std::string_view pair = text.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse("needs a name and a value in " + which + "; write ?name=value&name=value");
    }
    const bool fresh =
        options.emplace(decode(pair.substr(0, equals), which), decode(pair.substr(equals + 1), which)).second;
    if (!fresh) refuse("sets the same option twice (" + which + "); remove one");
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return options;
}

}  // namespace

Url Url::parse(std::string_view text) {
  if (text.empty()) refuse("is empty; write for example sqlite:/path/locks.db");
  if (std::any_of(text.begin(), text.end(), is_control)) {
    refuse("contains a line break or another control character; remove it");
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    refuse("has no scheme; write for example sqlite:/path/locks.db");
  }
  Url url;
  url.scheme = parse_scheme(text.substr(0, colon));
  text.remove_prefix(colon + 1);
  const std::size_t question = text.find('?');
  url.rest = std::string(text.substr(0, question));
  if (question != std::string_view::npos) url.options = parse_options(text.substr(question + 1));
  return url;
}

std::string decode_path(std::string_view rest) { return decode(rest, "its path"); }

}  // namespace holdfast::base
