#include "backends/etcd/keys.hpp"

#include <algorithm>
#include <array>

#include "base/percent.hpp"

namespace holdfast::etcd {
namespace {

constexpr std::string_view permits_folder = "~permits/";
constexpr std::string_view register_folder = "~register/";
constexpr char shared_mark = '~';
constexpr std::size_t id_length = 32;

constexpr std::string_view folder_of(LockKind kind) { return kind == LockKind::semaphore ? permits_folder : ""; }

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

std::string encode(std::string_view name) { return base::percent_encoded(name, base::is_plain_in_names); }

std::optional<std::string> decode(std::string_view encoded) {
  const auto may_be_there = [](char c) { return base::is_plain_in_names(c) || c == '%'; };
  if (!std::ranges::all_of(encoded, may_be_there)) return std::nullopt;
  return base::percent_decoded(encoded, base::HexDigits::upper);
}

std::string Keys::lines(std::string_view name_prefix, LockKind kind) const {
  return prefix_ + "/" + std::string(folder_of(kind)) + encode(name_prefix);
}

std::pair<std::string, std::string> Keys::range_of_lines(std::string_view name_prefix, LockKind kind) const {
  std::string begin = lines(name_prefix, kind);
  // All names: without the folders, which begin with a tilde and so stand behind.
  std::string end = name_prefix.empty() && kind == LockKind::lock ? begin + "~" : end_of(begin);
  return {std::move(begin), std::move(end)};
}

std::string Keys::line(std::string_view name, LockKind kind) const { return lines(name, kind) + "/"; }

std::string Keys::claim(std::string_view name, ClaimMode mode, const spi::ClaimId& slot) const {
  return line(name, spi::kind_of({.kind = mode})) + (mode == ClaimMode::shared ? std::string(1, shared_mark) : "") +
         hexadecimal(slot);
}

std::vector<std::string> Keys::claims(std::string_view name, LockKind kind, const spi::ClaimId& slot) const {
  if (kind == LockKind::semaphore) return {claim(name, ClaimMode::permits, slot)};
  return {claim(name, ClaimMode::exclusive, slot), claim(name, ClaimMode::shared, slot)};
}

std::string Keys::joined_mark(std::string_view name) const { return lines(name, LockKind::semaphore); }

std::string Keys::register_of(std::string_view name) const {
  return prefix_ + "/" + std::string(register_folder) + encode(name);
}

std::optional<std::string> Keys::name_in(std::string_view key, LockKind kind) const {
  const std::size_t folder = prefix_.size() + 1 + folder_of(kind).size();
  const std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos || slash <= folder) return std::nullopt;
  return decode(key.substr(folder, slash - folder));
}

std::string Keys::end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  // NOLINTNEXTLINE(modernize-return-braced-init-list): braces would mean two characters
  if (end.empty()) return std::string(1, '\0');  // all keys
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::string Keys::end_of_exclusive(std::string_view line) { return std::string(line) + shared_mark; }

ClaimMode Keys::mode_in(std::string_view line, std::string_view key, LockKind kind) {
  if (kind == LockKind::semaphore) return ClaimMode::permits;
  return key.substr(line.size()).starts_with(shared_mark) ? ClaimMode::shared : ClaimMode::exclusive;
}

std::string Keys::client_in(std::string_view line, std::string_view key) {
  std::string_view id = key.substr(line.size());
  if (id.starts_with(shared_mark)) id.remove_prefix(1);
  const bool is_ours = id.size() == id_length;  // others have the number of a lease there
  return std::string(is_ours ? key.substr(0, key.size() - id_length / 2) : key);
}

}  // namespace holdfast::etcd
