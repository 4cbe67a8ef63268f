#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/claims.hpp"

/// What the steps of EtcdClaims hand to each other.
namespace holdfast::etcd {

/// An acquire under way.
struct EtcdClaims::Wanted {
  Wanted(const spi::ClaimRequest& request, const Keys& keys);

  ClaimKey claim;
  spi::Mode mode;
  spi::milliseconds lease;
  LeaseKind kind;
  bool refuse;
  Record record;
  std::string line;                             ///< what its keys begin with
  std::string key = {};                         ///< once it has its turn, like the next two
  std::vector<std::string> possible_keys = {};  ///< where it may stand already
  std::string door = {};                        ///< permits: see rooms.hpp
  base::Instant deadline = {};                  ///< once it has its turn
  std::optional<spi::ClaimId> replaces = {};
  std::vector<std::string> replaced_keys = {};

  void choose_keys(const Keys& keys, spi::ClaimId slot);
  bool permits() const { return claim.kind == LockKind::semaphore; }
  spi::Failure different_total(std::uint32_t total) const;
};

/// What must be known of a line to join it: of a semaphore's all other claims, of a lock's those who may have to be
/// waited for.
struct EtcdClaims::Glimpse {
  Line line;
  std::uint32_t size = 0;  ///< how many claims stand there
};

/// One claim of a renewal under way.
struct EtcdClaims::Look {
  ClaimKey claim;
  spi::milliseconds lease = {};        ///< zero: it only asks
  std::optional<Sight> sight = {};     ///< empty: it is not there
  std::int64_t under = 0;              ///< the lease that its key is under
  std::optional<Standing> found = {};  ///< by the last read
};

}  // namespace holdfast::etcd
