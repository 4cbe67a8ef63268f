#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/claims.hpp"

/// What the steps of EtcdClaims pass on to each other.
namespace holdfast::etcd {

/// An acquire that is under way.
struct EtcdClaims::Wanted {
  Wanted(const spi::ClaimRequest& request, const Keys& keys);

  ClaimKey claim;
  spi::Mode mode;
  spi::milliseconds lease;
  LeaseKind lease_kind;
  bool refuse;
  Record record;
  std::string line;  ///< what the keys of its line begin with
  // Known when the requests before it have been executed:
  std::string key = {};
  std::vector<std::string> possible_keys = {};  ///< the keys that it may have already
  std::string joined_mark = {};                 ///< permits: semaphore_cache.hpp explains it
  base::Instant deadline = {};
  std::optional<spi::ClaimId> replaces = {};
  std::vector<std::string> replaced_keys = {};

  void choose_keys(const Keys& keys, spi::ClaimId slot);
  bool permits() const { return claim.permits(); }
  spi::Failure different_total(std::uint32_t total) const;
};

/// What an acquire must know about a line: all other claims of a semaphore's line, and of a lock's line the claims that
/// it may have to wait for.
struct EtcdClaims::LineView {
  Line line;
  std::uint32_t size = 0;  ///< how many claims stand in the line
};

/// A claim that is looked up for a renewal, a release or a downgrade.
struct EtcdClaims::Look {
  ClaimKey claim;
  spi::milliseconds lease = {};             ///< how long it is to last; zero: the request only asks
  std::optional<StandingQuery> query = {};  ///< empty: the claim does not exist
  std::int64_t under = 0;                   ///< the lease that its key is under
  std::optional<LineStanding> found = {};   ///< what the last read has found
};

}  // namespace holdfast::etcd
