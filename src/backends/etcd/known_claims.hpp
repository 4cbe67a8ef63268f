#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/instant.hpp"
#include "kit/claim_key.hpp"

namespace holdfast::etcd {

using kit::ClaimKey;

/// A claim of this client that the store is known to have.
struct KnownClaim {
  ClaimMode mode = ClaimMode::exclusive;  ///< the mode in which it joined its line
  std::uint32_t permits = 1;              ///< how many it takes
  std::string key = {};
  std::int64_t create_revision = 0;
  std::int64_t lease = 0;
  bool granted = false;     ///< it is granted, and the core knows that
  std::uint32_t place = 0;  ///< at most so many claims stand before it

  std::uint64_t own_watch = 0;  ///< the watch of its own key; 0: there is none

  bool leaving = false;                  ///< this client is deleting it
  bool looking = false;                  ///< a read finds out how it stands
  bool look_again = false;               ///< something has happened since that read was sent
  std::int64_t asked_at = 0;             ///< the revision of the last request to release it
  base::Instant asked_since = {};        ///< when this client first saw that request
  bool told_of_release_request = false;  ///< the core knows of that request
};

using KnownClaims = std::map<ClaimKey, KnownClaim>;

}  // namespace holdfast::etcd
