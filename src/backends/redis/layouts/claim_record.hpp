#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::redis {

/// A claim's id as the store has it: 16 bytes.
class IdBytes {
 public:
  explicit IdBytes(const spi::ClaimId& id);
  operator std::string_view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, 16> bytes_;
};
spi::ClaimId id_from(std::string_view bytes);

/// Two digits for each byte.
std::string hexadecimal(std::string_view bytes);

/// The parts of a claim's record that its client writes, and the scripts never change but for a downgrade: mode, units,
/// total, client, description (queue_line.hpp).
struct RecordTail {
  static constexpr std::uint32_t everything = static_cast<std::uint32_t>(-1);
  static constexpr std::size_t client_bytes = 32;

  static std::uint32_t units_of(const spi::Mode& mode);
  static std::uint32_t total_of(const spi::Mode& mode);

  static std::string of(const spi::ClaimRequest& request, std::string_view client);
  /// Its last part: who claims and why.
  static std::string description_of(const spi::ClaimRequest& request);
  /// Fills in who claims and why.
  static void describe(std::string_view description, ClaimStatus& status);
};

/// A claim as the script that lists shows it.
struct ShownClaim {
  std::uint64_t number = 0;
  std::int64_t since = 0;  ///< microseconds of the time of day
  std::int64_t milliseconds_left = 0;
  ClaimMode mode = ClaimMode::exclusive;
  std::uint32_t units = 0;
  std::string_view description = {};

  static std::optional<ShownClaim> from(std::string_view bytes);
};

}  // namespace holdfast::redis
