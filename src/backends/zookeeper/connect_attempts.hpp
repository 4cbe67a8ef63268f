#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/instant.hpp"

namespace holdfast::zookeeper {

/// How long each attempt to connect may take, and which address comes next. No I/O: a Session carries it out.
///
/// The library would wait for two thirds of the session's timeout for a server that does not answer, whatever the
/// caller's patience is. So an attempt that takes too long is abandoned for the next address. When all addresses have
/// been abandoned once, each is given twice as long, because they may be far away. A single address is never abandoned:
/// there is no other.
class ConnectAttempts {
 public:
  /// A server may take this long to accept a connection ...
  static constexpr base::Duration time_to_accept = std::chrono::milliseconds(400);
  /// ... and this long, from the beginning of the attempt, to accept the session, which most of the servers have to
  /// agree to.
  static constexpr base::Duration time_to_establish = std::chrono::seconds(1);
  /// Both are doubled so many times at most.
  static constexpr std::size_t most_doublings = 3;

  /// REQUIRES: before the first attempt.
  void set_addresses(std::size_t count) { addresses_ = count; }
  std::size_t addresses() const { return addresses_; }

  /// An attempt begins. Answers how often the library must be made to skip an address first: after a failure it goes on
  /// by one address by itself, and by another one when it connects. Of two addresses it would try the same again and
  /// again; skipping all but one is one step back.
  std::size_t begin(base::Instant now) {
    began_ = now;
    abandoned_ = false;
    if (!may_abandon() || !failed_) return 0;
    failed_ = false;
    return addresses_ - 1;
  }
  base::Instant began() const { return began_; }

  /// When the present attempt takes too long; never, if there is no other address. `accepted`: there is a connection.
  base::Instant deadline(bool accepted) const {
    if (!may_abandon()) return base::Instant::max();
    return began_ + (accepted ? time_to_establish : time_to_accept) * (1 << doublings());
  }

  /// The present attempt took too long.
  void abandon() {
    abandoned_ = true;
    ++total_abandoned_;
  }
  /// The present attempt is one that has been given up, so what the library says of its end explains nothing.
  bool is_abandoned() const { return abandoned_; }

  /// The present attempt has failed, or the connection that there was.
  void failed() { failed_ = true; }
  /// A server has accepted the session.
  void succeeded() { total_abandoned_ = 0; }

 private:
  bool may_abandon() const { return addresses_ > 1; }
  std::size_t doublings() const { return std::min(total_abandoned_ / addresses_, most_doublings); }

  std::size_t addresses_ = 1;
  base::Instant began_ = {};
  std::size_t total_abandoned_ = 0;  ///< since a server last accepted the session
  bool abandoned_ = false;
  bool failed_ = false;
};

}  // namespace holdfast::zookeeper
