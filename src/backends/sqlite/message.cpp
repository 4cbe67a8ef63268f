#include "backends/sqlite/message.hpp"

#include <cstring>

#include "spi/part_name.hpp"

namespace holdfast::sqlite {
namespace {

/// Read and written by processes of one host, perhaps of different versions of this library.
struct Header {
  std::uint8_t version = 2;
  std::uint8_t kind = 0;
  std::uint16_t name_bytes = 0;
  std::uint32_t permits = 0;  ///< 1: the claim stands in the line of the semaphore
  std::uint64_t id_high = 0;
  std::uint64_t id_low = 0;
  std::int64_t number = 0;
  std::int64_t lease = 0;
};

/// In milliseconds; longer than any, and short enough to be counted in nanoseconds.
constexpr std::int64_t longest_lease = std::int64_t{1} << 40;

}  // namespace

std::string Message::encoded() const {
  Header header;
  header.kind = static_cast<std::uint8_t>(kind);
  header.name_bytes = static_cast<std::uint16_t>(name.size());
  header.permits = line == LockKind::semaphore ? 1 : 0;
  header.id_high = id.high;
  header.id_low = id.low;
  header.number = number;
  header.lease = lease.count();
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + name;
}

std::optional<Message> Message::decode(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::string_view name = bytes.substr(sizeof(header));
  const bool known = header.kind >= static_cast<std::uint8_t>(Kind::granted) &&
                     header.kind <= static_cast<std::uint8_t>(Kind::changed);
  if (header.version != Header().version || !known || header.name_bytes != name.size()) return std::nullopt;
  const bool possible = name.size() <= spi::PartName::max_bytes && header.permits <= 1 && header.number >= 0 &&
                        header.lease >= 0 && header.lease <= longest_lease;
  if (!possible) return std::nullopt;
  return Message{.kind = static_cast<Kind>(header.kind),
                 .name = std::string(name),
                 .line = header.permits == 1 ? LockKind::semaphore : LockKind::lock,
                 .id = {header.id_high, header.id_low},
                 .number = header.number,
                 .lease = spi::milliseconds(header.lease)};
}

}  // namespace holdfast::sqlite
