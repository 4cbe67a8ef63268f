#include "cli/text/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "cli/text/characters.hpp"

namespace holdfast::cli {
namespace {

std::string escaped(char byte) {
  switch (byte) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  std::array<char, 5> text{};
  std::snprintf(text.data(), text.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text.data();
}

std::string escaped(const Character& character) {
  if (character.code < 0x80) return escaped(static_cast<char>(character.code));
  std::array<char, 11> text{};
  const auto code = static_cast<unsigned>(character.code);
  if (code < 0x10000) {
    std::snprintf(text.data(), text.size(), "\\u%04x", code);
  } else {
    std::snprintf(text.data(), text.size(), "\\U%08x", code);
  }
  return text.data();
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int descriptor_of(Stream stream) { return stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO; }

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.bytes == 0) {
      shown += escaped(text.front());
    } else if (is_treacherous(character.code)) {
      shown += escaped(character);
    } else {
      shown += text.substr(0, character.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
  }
  return shown;
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

std::size_t width(std::string_view printable_text) {
  std::size_t columns = 0;
  while (!printable_text.empty()) {
    const Character character = first_character(printable_text);
    columns += columns_of(character.code);
    printable_text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
  }
  return columns;
}

void tell(std::string_view text) {
  // There is nobody left to tell that standard error cannot be written.
  write_all(STDERR_FILENO, "holdfast: " + std::string(text) + "\n");
}

void print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

bool is_terminal(Stream stream) { return ::isatty(descriptor_of(stream)) == 1; }

bool wants_colour(Stream stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool refused =
      (no_color != nullptr && *no_color != '\0') || terminal == nullptr || std::string_view(terminal) == "dumb";
  return !refused && is_terminal(stream);
}

std::string heading(const std::string& text) {
  return wants_colour(Stream::output) ? "\x1b[1m" + text + "\x1b[0m" : text;
}

}  // namespace holdfast::cli
