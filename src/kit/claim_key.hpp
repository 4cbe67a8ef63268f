#pragma once

#include <compare>
#include <cstddef>
#include <functional>

#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::kit {

/// What a client knows one of its claims by. Claims in different lines may have the same id.
struct ClaimKey {
  LockName name;
  LockKind kind = LockKind::lock;  ///< whose line the claim stands in
  spi::ClaimId id;

  /// The claim takes permits of a semaphore.
  bool permits() const { return kind == LockKind::semaphore; }

  friend auto operator<=>(const ClaimKey&, const ClaimKey&) = default;

  /// For unordered containers.
  struct Hash {
    std::size_t operator()(const ClaimKey& key) const noexcept { return std::hash<spi::ClaimId>()(key.id); }
  };
};

}  // namespace holdfast::kit
