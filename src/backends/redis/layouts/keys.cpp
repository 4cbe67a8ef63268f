#include "backends/redis/layouts/keys.hpp"

#include <array>
#include <cstdint>

#include "base/percent.hpp"

namespace holdfast::redis {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

bool is_plain(char c) {
  constexpr std::string_view special = "%{}:*?[]\\^";
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && special.find(c) == std::string_view::npos;
}

/// FNV-1a, folded to a byte. Part of the layout: all clients must agree.
std::array<char, 2> bucket_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  hash ^= hash >> 16U;
  hash ^= hash >> 8U;
  return {digits[hash >> 4U & 15U], digits[hash & 15U]};
}

}  // namespace

std::string Keys::encode(std::string_view name) {
  return base::percent_encoded(name, is_plain, base::HexDigits::lower);
}

std::string Keys::decode(std::string_view encoded) {
  return base::percent_decoded(encoded, base::HexDigits::lower).value_or(std::string(encoded));
}

std::string Keys::in_bucket(std::string_view bucket, std::string_view what, std::string_view encoded) const {
  std::string key;
  key.reserve(prefix_.size() + encoded.size() + 12);
  key.append(prefix_).append(":{").append(bucket).append("}:").append(what).append(":").append(encoded);
  return key;
}

LineKeys Keys::line(std::string_view name, LockKind kind) const {
  const bool permits = kind == LockKind::semaphore;
  const std::array<char, 2> digits_of_bucket = bucket_of(name);
  const std::string_view bucket(digits_of_bucket.data(), digits_of_bucket.size());
  const std::string encoded = encode(name);
  return {.line = in_bucket(bucket, permits ? "p" : "l", encoded),
          .claims = in_bucket(bucket, permits ? "pc" : "lc", encoded),
          .order = in_bucket(bucket, permits ? "po" : "lo", encoded),
          .counter = prefix_ + ":{" + std::string(bucket) + "}:n"};
}

PlainKeys Keys::plain(std::string_view name) const {
  const std::array<char, 2> digits_of_bucket = bucket_of(name);
  const std::string_view bucket(digits_of_bucket.data(), digits_of_bucket.size());
  const std::string encoded = encode(name);
  return {.lock = std::string(name),
          .holder = in_bucket(bucket, "h", encoded),
          .waiters = in_bucket(bucket, "w", encoded),
          .counter = prefix_ + ":{" + std::string(bucket) + "}:n"};
}

std::optional<spi::Failure> Keys::why_taken(std::string_view name) const {
  if (!name.starts_with(prefix_ + ":{")) return std::nullopt;
  return spi::Failure{Errc::invalid_argument,
                      "in the layout plain a lock's name is its key, and keys that begin with '" + prefix_ +
                          ":{' are Holdfast's own; choose another name or ?prefix="};
}

std::string Keys::register_of(std::string_view name) const {
  const std::array<char, 2> bucket = bucket_of(name);
  return in_bucket({bucket.data(), bucket.size()}, "r", encode(name));
}

std::string Keys::pattern(std::string_view name_prefix) const {
  return in_bucket("*", "[lp]", encode(name_prefix)) + '*';
}

Keys::Parsed Keys::parse(std::string_view key) {
  const std::size_t before_name = key.rfind(':');
  if (before_name == std::string_view::npos || before_name == 0) return {.name = decode(key)};
  return {.name = decode(key.substr(before_name + 1)),
          .kind = key[before_name - 1] == 'p' ? LockKind::semaphore : LockKind::lock};
}

}  // namespace holdfast::redis
