#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sqlite/message.hpp"
#include "backends/sqlite/sql.hpp"
#include "spi/registers.hpp"

namespace holdfast::sqlite {

/// The registers of a store, and who watches them. REQUIRES: inside a transaction; a durable one for those that write.
/// All throw SqlFailure. Registers are never removed.
class RegisterTable {
 public:
  static constexpr std::size_t max_value_bytes = 1 << 20;

  explicit RegisterTable(Connection& connection) : connection_(connection) {}

  spi::Versioned read(std::string_view name);
  /// Errc::invalid_argument if the value is too large. Appends to `notices` what watchers should be told.
  spi::Result<spi::Registers::WriteAnswer> write_if(std::string_view name, std::uint64_t expected,
                                                    const std::string& value, std::vector<Notice>& notices);
  /// Errc::invalid_argument if the value is not a number or the sum does not fit.
  spi::Result<std::int64_t> add(std::string_view name, std::int64_t amount, std::vector<Notice>& notices);

  /// True if the version is not `seen` any more. Else the client will be told of the next change, once.
  bool watch(ClientNumber client, std::string_view name, std::uint64_t seen);

 private:
  void write(std::string_view name, const spi::Versioned& value, std::vector<Notice>& notices);

  Connection& connection_;
};

}  // namespace holdfast::sqlite
