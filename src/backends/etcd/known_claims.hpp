#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "base/instant.hpp"
#include "holdfast/name.hpp"
#include "spi/claims.hpp"

namespace holdfast::etcd {

/// A claim of this client that the store is known to have.
struct KnownClaim {
  ClaimMode mode = ClaimMode::exclusive;  ///< as it joined
  std::uint32_t permits = 1;              ///< how many
  std::string key = {};
  std::int64_t create_revision = 0;
  std::int64_t lease = 0;
  bool granted = false;     ///< and the core knows it
  std::uint32_t place = 0;  ///< at most so many stand before it

  std::uint64_t own_watch = 0;  ///< of the key itself; 0: none

  bool leaving = false;            ///< it is being deleted by us
  bool looking = false;            ///< its line is being read
  bool look_again = false;         ///< something has happened meanwhile
  std::int64_t asked_at = 0;       ///< the revision of a wish that it be released
  base::Instant asked_since = {};  ///< when we first saw it
  bool told_of_wish = false;
};

struct ClaimKey {
  LockName name;
  LockKind kind;
  spi::ClaimId id;
  friend auto operator<=>(const ClaimKey&, const ClaimKey&) = default;
};

using KnownClaims = std::map<ClaimKey, KnownClaim>;

}  // namespace holdfast::etcd
