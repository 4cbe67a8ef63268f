#pragma once

#include <span>
#include <vector>

#include "backends/sqlite/store_access.hpp"
#include "spi/claims.hpp"
#include "spi/operation.hpp"

namespace holdfast::sqlite {

/// The claims of one client. A client enrolls with its first claim: see membership.hpp.
class SqliteClaims final : public spi::Claims {
 public:
  /// REQUIRES: `access` outlives it.
  explicit SqliteClaims(StoreAccess& access) : access_(access) {}

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;
  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

 private:
  spi::Operation<spi::ClaimAnswer> acquiring(spi::ClaimRequest request);
  spi::Operation<bool> releasing(spi::ClaimRef claim);
  spi::Operation<std::vector<spi::ClaimAnswer>> renewing(std::vector<spi::ClaimRef> claims);
  spi::Operation<spi::ClaimAnswer> downgrading(spi::ClaimRef claim);

  StoreAccess& access_;
};

}  // namespace holdfast::sqlite
