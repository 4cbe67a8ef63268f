#pragma once

#include "backends/sqlite/store_access.hpp"
#include "spi/administration.hpp"

namespace holdfast::sqlite {

/// Operations for operators: one transaction each.
class SqliteAdministration final : public spi::Administration {
 public:
  /// REQUIRES: both outlive it.
  SqliteAdministration(spi::Loop& loop, StoreAccess& access) : loop_(loop), access_(access) {}

  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

 private:
  spi::Loop& loop_;
  StoreAccess& access_;
};

}  // namespace holdfast::sqlite
