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

/// Deletes keys that appear after their claims were released. A transaction that timed out may still be executed later,
/// and the key that it writes would live as long as its lease. So the keys of claims that may have joined in this way
/// are deleted again, several times, after their release.
class StrayKeys {
 public:
  /// REQUIRES: `loop` and `calls` outlive it.
  StrayKeys(spi::Loop& loop, ServerCalls& calls) : loop_(loop), calls_(calls), timer_(loop, [this] { sweep(); }) {}

  /// Nobody knows whether the claim has joined its line.
  void doubt(const ClaimKey& claim, std::int64_t lease) { doubtful_[claim] = lease; }
  /// It has joined; or it has not and will not. From now on `key` belongs to it and is not deleted.
  void is_certain(const ClaimKey& claim, const std::string& key);
  /// The claim was released. Returns the lease under which one of its keys may still appear; 0 if none will.
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
  ServerCalls& calls_;
  std::map<ClaimKey, std::int64_t> doubtful_;
  std::vector<Stray> strays_;
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
