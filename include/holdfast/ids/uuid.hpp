#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

#include "holdfast/export.hpp"

namespace holdfast::ids {

/// A UUID as RFC 9562 defines it: 16 bytes, of any version. The generators Uuid4 and Uuid7 make new ones.
///
/// The object is its bytes, in the order of the RFC, and nothing else: an array of them may be written to a file or to a
/// BINARY(16) column as it is. UUIDs are compared byte by byte, so they sort as their texts do; those of version 7 sort
/// by the time in them.
///
///     const auto id = Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
///     if (id) std::cout << *id << '\n';
class Uuid {
 public:
  using Bytes = std::array<std::uint8_t, 16>;
  /// The length of the text: 32 hexadecimal digits and 4 hyphens.
  static constexpr std::size_t text_length = 36;

  /// The nil UUID: all bits are 0.
  constexpr Uuid() noexcept = default;
  constexpr explicit Uuid(const Bytes& bytes) noexcept : stored_(std::bit_cast<Halves>(bytes)) {}
  /// The first 8 bytes and the last 8 bytes, each as a number whose most significant byte comes first.
  constexpr Uuid(std::uint64_t high, std::uint64_t low) noexcept : stored_{big_endian(high), big_endian(low)} {}
  /// The max UUID: all bits are 1.
  static constexpr Uuid max() noexcept { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }

  /// Reads the one form that RFC 9562 defines: 8-4-4-4-12 hexadecimal digits, in either case. Nothing if the text is
  /// anything else, such as one in braces or without hyphens. Any version and variant is accepted.
  HOLDFAST_EXPORT static std::optional<Uuid> parse(std::string_view text) noexcept;

  constexpr Bytes bytes() const noexcept { return std::bit_cast<Bytes>(stored_); }
  constexpr std::uint64_t high() const noexcept { return big_endian(stored_.high); }
  constexpr std::uint64_t low() const noexcept { return big_endian(stored_.low); }

  /// 1 to 8, or none if the UUID is not of the variant that RFC 9562 is about, as the nil and the max UUID.
  constexpr std::optional<int> version() const noexcept {
    if (low() >> 62 != 2) return std::nullopt;
    return static_cast<int>(high() >> 12 & 15);
  }
  /// When a UUID of version 7 was made, as far as its generator knew; none for other versions.
  constexpr std::optional<std::chrono::sys_time<std::chrono::milliseconds>> time() const noexcept {
    if (version() != 7) return std::nullopt;
    return std::chrono::sys_time<std::chrono::milliseconds>(
        std::chrono::milliseconds(static_cast<std::int64_t>(high() >> 16)));
  }

  friend constexpr bool operator==(const Uuid& left, const Uuid& right) noexcept {
    return left.high() == right.high() && left.low() == right.low();
  }
  friend constexpr std::strong_ordering operator<=>(const Uuid& left, const Uuid& right) noexcept {
    if (const auto order = left.high() <=> right.high(); order != 0) return order;
    return left.low() <=> right.low();
  }

 private:
  /// Bytes in pairs of numbers, because compilers are slow with bytes: two stores of 8 bytes and one load of 16 stall.
  struct Halves {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
  };
  /// From the processor's order of bytes to that of the RFC, and back.
  static constexpr std::uint64_t big_endian(std::uint64_t number) noexcept {
    return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
  }

  Halves stored_ = {};
};

/// Writes the text in lower case, as std::to_chars does: no terminating null, and `errc::value_too_large` if there is
/// not enough room for `Uuid::text_length` characters. Allocates nothing.
HOLDFAST_EXPORT std::to_chars_result to_chars(char* first, char* last, const Uuid& uuid) noexcept;

HOLDFAST_EXPORT std::string to_string(const Uuid& uuid);

/// Writes the text; the stream's width and filling apply.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const Uuid& uuid) {
  std::array<char, Uuid::text_length> text{};
  to_chars(text.data(), text.data() + text.size(), uuid);
  return out << std::basic_string_view<char, Traits>(text.data(), text.size());
}

}  // namespace holdfast::ids

template <>
struct std::hash<holdfast::ids::Uuid> {
  /// All bits count, so the hashes of UUIDs that were made one after the other are spread, too.
  std::size_t operator()(const holdfast::ids::Uuid& uuid) const noexcept {
    std::uint64_t mixed = uuid.high() ^ std::rotl(uuid.low(), 32);
    mixed = (mixed ^ mixed >> 32) * 0x9e37'79b9'7f4a'7c15;
    mixed ^= mixed >> 32;
    return static_cast<std::size_t>(mixed);
  }
};

#ifdef __cpp_lib_format
template <>
struct std::formatter<holdfast::ids::Uuid> : std::formatter<std::string_view> {
  template <class Context>
  auto format(const holdfast::ids::Uuid& uuid, Context& context) const {
    return std::formatter<std::string_view>::format(to_string(uuid), context);
  }
};
#endif
