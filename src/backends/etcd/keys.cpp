#include "backends/etcd/keys.hpp"

#include <array>

namespace holdfast::etcd {
namespace {

constexpr std::string_view digits = "0123456789ABCDEF";
constexpr std::string_view permits_folder = "~permits/";
constexpr std::string_view register_folder = "~register/";
constexpr char shared_mark = '~';
constexpr std::size_t id_length = 32;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

std::string hexadecimal(const spi::ClaimId& id) {
  constexpr std::string_view small_digits = "0123456789abcdef";
  std::string text;
  text.reserve(id_length);
  for (const std::uint64_t half : {id.high, id.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += small_digits[half >> static_cast<unsigned>(shift) & 15U];
  }
  return text;
}

std::string encode(std::string_view name) {
  std::string encoded;
  encoded.reserve(name.size());
  for (const char c : name) {
    if (is_plain(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += digits[byte >> 4U];
      encoded += digits[byte & 15U];
    }
  }
  return encoded;
}

std::optional<std::string> decode(std::string_view encoded) {
  std::string name;
  name.reserve(encoded.size());
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (is_plain(encoded[i])) {
      name += encoded[i];
      continue;
    }
    if (encoded[i] != '%' || i + 2 >= encoded.size()) return std::nullopt;
    const std::size_t high = digits.find(encoded[i + 1]);
    const std::size_t low = digits.find(encoded[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    name += static_cast<char>(high << 4U | low);
    i += 2;
  }
  return name;
}

std::string Keys::lines(std::string_view name_prefix, bool permits) const {
  return prefix_ + "/" + std::string(permits ? permits_folder : "") + encode(name_prefix);
}

std::pair<std::string, std::string> Keys::range_of_lines(std::string_view name_prefix, bool permits) const {
  std::string begin = lines(name_prefix, permits);
  // All names: without the folders, which begin with a tilde and so stand behind.
  std::string end = name_prefix.empty() && !permits ? begin + "~" : end_of(begin);
  return {std::move(begin), std::move(end)};
}

std::string Keys::line(std::string_view name, bool permits) const { return lines(name, permits) + "/"; }

std::string Keys::claim(std::string_view name, ClaimMode mode, const spi::ClaimId& id) const {
  return line(name, mode == ClaimMode::permits) + (mode == ClaimMode::shared ? std::string(1, shared_mark) : "") +
         hexadecimal(id);
}

std::string Keys::door(std::string_view name) const { return lines(name, true); }

std::string Keys::register_of(std::string_view name) const {
  return prefix_ + "/" + std::string(register_folder) + encode(name);
}

std::optional<std::string> Keys::name_in(std::string_view key, bool permits) const {
  const std::size_t folder = prefix_.size() + 1 + (permits ? permits_folder.size() : 0);
  const std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos || slash <= folder) return std::nullopt;
  return decode(key.substr(folder, slash - folder));
}

std::string Keys::end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return std::string(1, '\0');  // all keys
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::string Keys::end_of_exclusive(std::string_view line) { return std::string(line) + shared_mark; }

ClaimMode Keys::mode_in(std::string_view line, std::string_view key, bool permits) {
  if (permits) return ClaimMode::permits;
  return key.substr(line.size()).starts_with(shared_mark) ? ClaimMode::shared : ClaimMode::exclusive;
}

std::string Keys::client_in(std::string_view line, std::string_view key) {
  std::string_view id = key.substr(line.size());
  if (id.starts_with(shared_mark)) id.remove_prefix(1);
  const bool is_ours = id.size() == id_length;  // others have the number of a lease there
  return std::string(is_ours ? key.substr(0, key.size() - id_length / 2) : key);
}

}  // namespace holdfast::etcd
