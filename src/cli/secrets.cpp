#include "cli/secrets.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/percent.hpp"

namespace holdfast::cli {
namespace {

/// Where in a URL a password stands.
struct Range {
  std::size_t begin;
  std::size_t end;
};

/// Everything from the first colon to the last @ before the options. A password may hold a raw / or @, so the end of
/// the host's part is not looked for.
std::optional<Range> password_of(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  const std::size_t at = url.substr(0, url.find('?')).rfind('@');
  const std::size_t colon = url.find(':', scheme_end + 3);
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return std::nullopt;
  return Range{.begin = colon + 1, .end = at};
}

bool names_a_secret(std::string_view option) {
  constexpr std::array<std::string_view, 3> words{"pass", "secret", "token"};
  const std::string_view key = option.substr(0, option.find('='));
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return key.find(word) != std::string_view::npos; });
}

/// Calls `visit` with each `key=value` of a URL.
template <class Visit>
void for_each_option(std::string_view url, Visit visit) {
  std::size_t begin = url.find('?');
  while (begin != std::string_view::npos) {
    const std::size_t end = url.find('&', begin + 1);
    visit(Range{.begin = begin + 1, .end = std::min(end, url.size())});
    begin = end;
  }
}

std::string_view part(std::string_view url, Range range) { return url.substr(range.begin, range.end - range.begin); }

}  // namespace

std::string without_password(std::string_view url) {
  std::string result(url.substr(0, url.find('?')));
  if (const auto password = password_of(url)) {
    const bool no_user = url.substr(0, password->begin).ends_with("//:");
    const std::size_t begin = password->begin - 1;
    const std::size_t end = no_user ? password->end + 1 : password->end;
    result.erase(begin, end - begin);
  }
  char separator = '?';
  for_each_option(url, [&](Range option) {
    if (names_a_secret(part(url, option))) return;
    result += separator;
    result += part(url, option);
    separator = '&';
  });
  return result;
}

bool can_have_password(std::string_view url) { return !url.starts_with("memory:") && !url.starts_with("sqlite:"); }

std::string with_password(std::string_view url, std::string_view password) {
  std::string result = without_password(url);
  const std::string encoded = base::percent_encoded(password, base::is_plain_in_names);
  const std::size_t scheme_end = result.find("://");
  const std::size_t options = result.find('?');
  if (scheme_end == std::string::npos) {
    return result + (options == std::string::npos ? '?' : '&') + "password=" + encoded;
  }
  const std::size_t at = result.rfind('@', options);
  if (at != std::string::npos && at > scheme_end) return result.insert(at, ":" + encoded);
  return result.insert(scheme_end + 3, ":" + encoded + "@");
}

void hide_passwords(std::span<char*> arguments) {
  for (char* const argument : arguments) {
    const std::string_view text = argument;
    if (text == "--") return;
    const auto hide = [&](Range secret) { std::fill(argument + secret.begin, argument + secret.end, '*'); };
    const auto password = password_of(text);
    for_each_option(text, [&](Range option) {
      if (!names_a_secret(part(text, option))) return;
      const std::size_t equals = part(text, option).find('=');
      if (equals != std::string_view::npos) hide({.begin = option.begin + equals + 1, .end = option.end});
    });
    if (password) hide(*password);
  }
}

void keep_memory_private() {
  struct RestoreAtExit {
    const int before = ::prctl(PR_GET_DUMPABLE);
    ~RestoreAtExit() { ::prctl(PR_SET_DUMPABLE, before); }  // leak checkers look at a process that exits
  };
  static const RestoreAtExit restore;
  ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace holdfast::cli
