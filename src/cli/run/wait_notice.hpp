#pragma once

#include <stop_token>
#include <thread>

#include "holdfast/client.hpp"

namespace holdfast::cli {

/// Says on standard error for whom this process waits, once, if it still waits after a second:
/// `waiting for 'job', held by web1:4711 (sleep) for 3m`.
///
/// The store is asked on a thread of its own, and not before it has answered something else; its silence costs the
/// destructor a second at most.
class WaitNotice {
 public:
  /// Begins to wait. REQUIRES: `client` outlives it.
  WaitNotice(Client& client, LockName name, LockKind kind);

 private:
  void watch(const std::stop_token& stop) const;
  /// False if nobody knows yet.
  bool tell_who() const;

  Client& client_;
  const LockName name_;
  const LockKind kind_;
  std::jthread thread_;  ///< the last member: it uses the others
};

}  // namespace holdfast::cli
