#include "cli/top/keys.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace holdfast::cli {
namespace {

/// A key and how many bytes it took; no bytes if it is not complete.
struct Decoded {
  Key key = {};
  std::size_t length = 0;
};

constexpr char escape_byte = '\x1b';

Key::Kind kind_of_final(char final) {
  switch (final) {
    case 'A': return Key::Kind::up;
    case 'B': return Key::Kind::down;
    case 'H': return Key::Kind::home;
    case 'F': return Key::Kind::end;
    default: return Key::Kind::unknown;
  }
}

/// Of `ESC [ NUMBER ~`.
Key::Kind kind_of_number(std::string_view number) {
  if (number == "1" || number == "7") return Key::Kind::home;
  if (number == "4" || number == "8") return Key::Kind::end;
  if (number == "5") return Key::Kind::page_up;
  if (number == "6") return Key::Kind::page_down;
  return Key::Kind::unknown;
}

/// `ESC [ PARAMETERS FINAL`. Modifiers (Shift, Ctrl) follow the key's number behind a semicolon, and are ignored.
Decoded decode_control_sequence(std::string_view bytes) {
  constexpr std::size_t introducer = 2;
  std::size_t end = introducer;
  while (end < bytes.size() && bytes[end] >= 0x20 && bytes[end] <= 0x3F) ++end;
  if (end == bytes.size()) return {};
  const std::string_view parameters = bytes.substr(introducer, end - introducer);
  const char final = bytes[end];
  const Key::Kind kind =
      final == '~' ? kind_of_number(parameters.substr(0, parameters.find(';'))) : kind_of_final(final);
  return {{.kind = kind}, end + 1};
}

Decoded decode_escape(std::string_view bytes) {
  if (bytes.size() == 1) return {};
  if (bytes[1] == '[') return decode_control_sequence(bytes);
  if (bytes[1] == 'O') return bytes.size() == 2 ? Decoded{} : Decoded{{.kind = kind_of_final(bytes[2])}, 3};
  return {{.kind = Key::Kind::escape}, 1};
}

Key::Kind kind_of_control(char byte) {
  switch (byte) {
    case '\r':
    case '\n': return Key::Kind::enter;
    case '\b':
    case '\x7f': return Key::Kind::backspace;
    case '\x03': return Key::Kind::interrupt;
    case '\x1a': return Key::Kind::stop;
    case '\x0c': return Key::Kind::redraw;
    default: return Key::Kind::unknown;
  }
}

/// Whether these are right is of no interest here: what is shown is made printable.
Decoded decode_multibyte(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first < 0xC0) return {{.kind = Key::Kind::unknown}, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (bytes.size() < length) return {};
  return {{.kind = Key::Kind::character, .text = std::string(bytes.substr(0, length))}, length};
}

Decoded decode(std::string_view bytes) {
  const char first = bytes.front();
  if (first == escape_byte) return decode_escape(bytes);
  if (static_cast<unsigned char>(first) >= 0x80) return decode_multibyte(bytes);
  if (first < 0x20 || first == 0x7F) return {{.kind = kind_of_control(first)}, 1};
  return {{.kind = Key::Kind::character, .text = std::string(1, first)}, 1};
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    Decoded decoded = decode(rest);
    if (decoded.length == 0) break;
    keys.push_back(std::move(decoded.key));
    rest.remove_prefix(decoded.length);
  }
  pending_ = std::string(rest);
  return keys;
}

std::vector<Key> KeyDecoder::settle() {
  const std::string begun = std::exchange(pending_, {});
  if (begun.empty() || begun.front() != escape_byte) return {};
  std::vector<Key> keys{{.kind = Key::Kind::escape}};
  for (const Key& key : feed(std::string_view(begun).substr(1))) keys.push_back(key);
  return keys;
}

}  // namespace holdfast::cli
