#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "backends/etcd/known_claims.hpp"
#include "backends/etcd/link.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// A transaction that timed out may still be executed after its claim was released, and its key would live as long as
/// the lease. So keys of claims whose joining was in doubt are deleted again, some times, after their release.
class StrayKeys {
 public:
  /// REQUIRES: both outlive it.
  StrayKeys(spi::Loop& loop, Link& link) : loop_(loop), link_(link), timer_(loop, [this] { sweep(); }) {}

  /// Nobody knows whether the claim has joined.
  void doubt(const ClaimKey& claim, std::int64_t lease) { doubtful_[claim] = lease; }
  /// It has joined; or it has not, and will not. In another life it may have left strays, which are wanted again.
  void is_certain(const ClaimKey& claim, const std::string& key);
  /// It shall not be there any more: the lease under which it may appear all the same; 0 if it will not.
  std::int64_t released(const ClaimKey& claim, std::vector<std::string> keys);
  void close();

 private:
  struct Stray {
    base::Instant due;
    std::vector<std::string> keys;
    int sweeps = 0;
  };

  void sweep();
  void set_timer();

  spi::Loop& loop_;
  Link& link_;
  std::map<ClaimKey, std::int64_t> doubtful_;
  std::vector<Stray> strays_;
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
