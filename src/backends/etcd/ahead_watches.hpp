#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "backends/etcd/known_claims.hpp"
#include "backends/etcd/watches.hpp"
#include "base/callback.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Tells waiting claims when what they wait for has gone or has changed.
///
/// The server may be late with the first events of a new watch: if anything is written at the very moment when it
/// creates the watch, it sends these events only when it next looks after such watches, which it does ten times a
/// second. So each watch covers all keys that another client has in the line, and is kept for a while after its last
/// use. Where the same clients meet again and again, the watch that a claim needs exists already, and the server is not
/// asked for anything.
class AheadWatches {
 public:
  using OnEvent = base::Callback<void(const ClaimKey&)>;

  /// `on_event` may do anything but destroy this. REQUIRES: `loop` and `watches` outlive it.
  AheadWatches(spi::Loop& loop, Watches& watches, OnEvent on_event);

  /// What a claim waits for. The claim is told at least once if that existed at revision `seen` and goes later.
  struct Target {
    std::string line = {};
    std::string key = {};  ///< empty: any claim of the line
    std::int64_t seen = 0;
  };
  /// From now on the claim waits for `target` instead of what it waited for before. True if the target may have gone
  /// already: look again now.
  bool wait(const ClaimKey& claim, const Target& target);
  void stop(const ClaimKey& claim);
  void close();

 private:
  /// The keys that one watch covers, and the claims that wait for some of them.
  struct WatchedKeys {
    std::uint64_t watch = 0;
    bool begun = false;
    std::int64_t told_after = 0;                   ///< once begun: events after this revision have been told or will be
    std::map<ClaimKey, std::string> waiting = {};  ///< the key that each claim waits for; empty: any
    base::Instant idle_since = base::Instant::max();
  };

  void happened(const std::string& prefix, Watches::What what, const WatchReply& reply);
  void forget_idle();

  spi::Loop& loop_;
  Watches& watches_;
  OnEvent on_event_;
  std::map<std::string, WatchedKeys> watched_;  ///< by what the keys begin with
  std::map<ClaimKey, std::string> waits_in_;    ///< which of them each claim waits in
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
