#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "backends/etcd/known_claims.hpp"
#include "backends/etcd/server_calls.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Deletes keys that appear after their claims have ended. A transaction that timed out may still be executed later, and
/// the key that it writes would live as long as its lease. That may happen even if the request was repeated and answered
/// meanwhile: a server that stood still executes what it was sent when it continues. So the keys of such claims are
/// deleted again, several times, after their end.
class StrayKeys {
 public:
  /// REQUIRES: `loop` and `calls` outlive it.
  StrayKeys(spi::Loop& loop, ServerCalls& calls) : loop_(loop), calls_(calls), timer_(loop, [this] { sweep(); }) {}

  /// A transaction that puts the claim into its line may be executed at any time from now on.
  void doubt(const ClaimKey& claim, std::int64_t lease) { doubtful_[claim] = lease; }
  /// The key belongs to a claim, so it is not deleted any more.
  void is_wanted(const std::string& key);
  /// The claim has ended. Returns the lease under which one of its keys may still appear; 0 if none will.
  std::int64_t ended(const ClaimKey& claim, std::vector<std::string> keys);
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
  ServerCalls& calls_;
  std::map<ClaimKey, std::int64_t> doubtful_;
  std::vector<Stray> strays_;
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
