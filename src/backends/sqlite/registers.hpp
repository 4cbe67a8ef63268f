#pragma once

#include <cstdint>
#include <string>

#include "backends/sqlite/store_access.hpp"
#include "spi/operation.hpp"
#include "spi/registers.hpp"

namespace holdfast::sqlite {

/// The registers, for one client: read in a transaction, and written on the disk before it is answered.
class SqliteRegisters final : public spi::Registers {
 public:
  /// REQUIRES: `access` outlives it.
  explicit SqliteRegisters(StoreAccess& access) : access_(access) {}

  void read(const LockName& name, spi::Done<spi::Versioned> done) override;
  void write_if(const LockName& name, std::uint64_t expected, std::string value, spi::Done<WriteAnswer> done) override;
  void add(const LockName& name, std::int64_t amount, spi::Done<std::int64_t> done) override;
  void watch(const LockName& name, std::uint64_t seen, spi::Done<> done) override;

 private:
  spi::Operation<spi::Nothing> watching(LockName name, std::uint64_t seen);

  StoreAccess& access_;
};

}  // namespace holdfast::sqlite
