#include "backends/redis/layouts/claim_record.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::redis {
namespace {

template <unsigned bytes>
void append_number(std::string& out, std::uint64_t number) {
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xffU);
}

template <unsigned bytes>
std::uint64_t take_number(std::string_view& in) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < bytes && i < in.size(); ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(in[i])} << (8 * i);
  }
  in.remove_prefix(std::min<std::size_t>(bytes, in.size()));
  return number;
}

void append_text(std::string& out, std::string_view text) {
  append_number<4>(out, text.size());
  out.append(text);
}

std::string take_text(std::string_view& in) {
  const std::size_t size = std::min<std::size_t>(take_number<4>(in), in.size());
  std::string text(in.substr(0, size));
  in.remove_prefix(size);
  return text;
}

/// Lua's numbers are doubles. Beyond this they are not exact; as microseconds, it still fits into a time of day.
constexpr std::int64_t largest_exact = std::int64_t{1} << 53;

/// A whole number, cut off where nobody counts: a server may send anything.
std::int64_t take_lua_number(std::string_view& in) {
  const auto value = std::bit_cast<double>(take_number<8>(in));
  constexpr auto limit = static_cast<double>(largest_exact);
  if (!(value > -limit)) return value <= -limit ? -largest_exact : 0;  // 0: not a number
  return value < limit ? static_cast<std::int64_t>(value) : largest_exact;
}

unsigned number_of(ClaimMode mode) {
  switch (mode) {
    case ClaimMode::exclusive: return 1;
    case ClaimMode::shared: return 2;
    case ClaimMode::permits: return 3;
  }
  return 1;
}

ClaimMode mode_from(std::uint64_t number) {
  if (number == 2) return ClaimMode::shared;
  return number == 3 ? ClaimMode::permits : ClaimMode::exclusive;
}

void append_description(std::string& description, const spi::ClaimRequest& request) {
  static const ClientIdentity nobody;
  const ClientIdentity& identity = request.client ? *request.client : nobody;
  append_text(description, identity.id);
  append_text(description, identity.host);
  append_number<8>(description, static_cast<std::uint64_t>(identity.pid));
  append_text(description, identity.command);
  append_text(description, identity.label);
  append_text(description, request.reason);
}

}  // namespace

IdBytes::IdBytes(const spi::ClaimId& id) : bytes_() {
  for (unsigned i = 0; i < 8; ++i) {
    bytes_[i] = static_cast<char>(id.high >> (8 * i) & 0xffU);
    bytes_[8 + i] = static_cast<char>(id.low >> (8 * i) & 0xffU);
  }
}

spi::ClaimId id_from(std::string_view bytes) {
  spi::ClaimId id;
  id.high = take_number<8>(bytes);
  id.low = take_number<8>(bytes);
  return id;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4U];
    text += digits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

std::uint32_t RecordTail::units_of(const spi::Mode& mode) {
  if (mode.kind == ClaimMode::permits) return mode.permits;
  return mode.kind == ClaimMode::shared ? 1 : everything;
}

std::uint32_t RecordTail::total_of(const spi::Mode& mode) {
  return mode.kind == ClaimMode::permits ? mode.limit : everything;
}

std::string RecordTail::of(const spi::ClaimRequest& request, std::string_view client) {
  std::string tail;
  tail.reserve(256 + request.reason.size());
  append_number<1>(tail, number_of(request.mode.kind));
  append_number<4>(tail, units_of(request.mode));
  append_number<4>(tail, total_of(request.mode));
  tail.append(client);
  append_description(tail, request);
  return tail;
}

std::string RecordTail::description_of(const spi::ClaimRequest& request) {
  std::string description;
  append_description(description, request);
  return description;
}

void RecordTail::describe(std::string_view description, ClaimStatus& status) {
  status.client.id = take_text(description);
  status.client.host = take_text(description);
  status.client.pid = static_cast<std::int64_t>(take_number<8>(description));
  status.client.command = take_text(description);
  status.client.label = take_text(description);
  status.reason = take_text(description);
}

std::optional<ShownClaim> ShownClaim::from(std::string_view bytes) {
  constexpr std::int64_t longest = std::int64_t{1} << 43;  // milliseconds that fit into nanoseconds
  constexpr std::size_t before_description = 3 * 8 + 1 + 4;
  if (bytes.size() < before_description) return std::nullopt;
  ShownClaim shown;
  shown.number = static_cast<std::uint64_t>(std::max<std::int64_t>(take_lua_number(bytes), 0));
  shown.since = take_lua_number(bytes);
  shown.milliseconds_left = std::clamp<std::int64_t>(take_lua_number(bytes), -longest, longest);
  shown.mode = mode_from(take_number<1>(bytes));
  shown.units = static_cast<std::uint32_t>(take_number<4>(bytes));
  shown.description = bytes;
  return shown;
}

}  // namespace holdfast::redis
