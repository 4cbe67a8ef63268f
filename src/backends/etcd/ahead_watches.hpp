#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "backends/etcd/known_claims.hpp"
#include "backends/etcd/watches.hpp"
#include "base/callback.hpp"
#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Tells waiting claims when what they wait for has gone, or has changed.
///
/// A new watch may be served late: if anything is written at the very moment when the server makes it, it gets its
/// first events only when the server next looks after such watches, ten times a second. So watches are kept for a
/// while, and are not of one claim but of all that another client has in that line: where the same clients meet again
/// and again, the watch that a claim needs has been there since the last time, and nothing is asked of the server at
/// all.
class AheadWatches {
 public:
  using OnEvent = base::Callback<void(const ClaimKey&)>;

  /// `on_event` may do anything but destroy this. REQUIRES: both outlive it.
  AheadWatches(spi::Loop& loop, Watches& watches, OnEvent on_event);

  /// What a claim waits for. It is told if that was there at revision `seen` and goes later, at least once.
  struct Wanted {
    std::string line = {};
    std::string key = {};  ///< empty: any claim of the line
    std::int64_t seen = 0;
  };
  /// Instead of what it waited for before. True: that may have happened already, look again now.
  bool wait(const ClaimKey& claim, const Wanted& wanted);
  void stop(const ClaimKey& claim);
  void close();

 private:
  /// All that somebody waits for in one range of keys.
  struct Range {
    std::uint64_t watch = 0;
    bool begun = false;
    std::int64_t told_after = 0;                   ///< begun: events after this revision have been told, or will be
    std::map<ClaimKey, std::string> waiting = {};  ///< for these keys; empty: for any
    base::Instant idle_since = base::Instant::max();
  };

  void happened(const std::string& range, Watches::What what, const WatchReply& reply);
  void forget_idle();

  spi::Loop& loop_;
  Watches& watches_;
  OnEvent on_event_;
  std::map<std::string, Range> ranges_;       ///< by what their keys begin with
  std::map<ClaimKey, std::string> waits_in_;  ///< which of them
  spi::Timer timer_;
};

}  // namespace holdfast::etcd
