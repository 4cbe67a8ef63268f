#include "cli/text/output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace holdfast::cli {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// The length of the well-formed character that `text` begins with; 0 if there is none, or if it is a control
/// character: C0, DEL, or C1 (which terminals may obey, too).
std::size_t showable_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const bool is_c1 = first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
  return is_c1 ? 0 : length;
}

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
    const std::size_t length = showable_length(text);
    if (length > 0) {
      shown += text.substr(0, length);
    } else {
      shown += escaped(text.front());
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return shown;
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

std::size_t width(std::string_view printable_text) {
  std::size_t columns = 0;
  for (const char byte : printable_text) {
    if (!is_continuation(byte)) ++columns;
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
