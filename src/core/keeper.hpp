#pragma once

#include <vector>

#include "core/claim.hpp"

namespace holdfast::core {

class Engine;

/// Collects the claims that are due for renewal at the same moment and renews them in one request.
class Keeper {
 public:
  explicit Keeper(Engine& engine) : engine_(engine) {}

  /// `claim` is renewed as soon as everything else that is due now has been added too.
  void renew(Claim& claim);

 private:
  struct Due {
    Claim* claim;
    spi::ClaimId id;
  };
  /// No more than these in one request, so that one slow batch does not hold up all renewals.
  static constexpr std::size_t batch_size = 1024;

  void flush();
  void send(std::vector<Due> batch);
  void answered(const std::vector<Due>& batch, const spi::Result<std::vector<spi::ClaimAnswer>>& answers);

  Engine& engine_;
  std::vector<Due> due_;
};

}  // namespace holdfast::core
