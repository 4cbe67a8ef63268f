#pragma once

#include <cstdint>
#include <map>

#include "holdfast/name.hpp"

namespace holdfast::etcd {

/// What is known of semaphores without reading their lines, as long as claims of this client stand there.
///
/// Whoever joins a line also writes the semaphore's door, under the same lease, and whoever changes the total deletes
/// it. So if the door is as it was, nobody has joined since; claims may have gone, but then less is claimed than we
/// know of: what has room has its turn. (That there is no door says nothing: whoever leaves may delete it at any time.)
class Rooms {
 public:
  struct Room {
    std::int64_t door = 0;  ///< the revision that wrote it; 0: nothing is known
    std::uint32_t total = 0;
    std::uint64_t claimed = 0;  ///< by holders and waiters, at most
    std::size_t own = 0;        ///< claims of this client

    bool fits(std::uint32_t permits, std::uint32_t wanted_total) const {
      return door != 0 && total == wanted_total && claimed + permits <= total;
    }
  };

  /// Nothing if nothing is known.
  const Room* find(const LockName& name) const {
    const auto found = rooms_.find(name);
    return found == rooms_.end() ? nullptr : &found->second;
  }

  /// A claim of this client is there, whatever is known of the others.
  void has_come(const LockName& name) { ++rooms_[name].own; }
  /// It is not, or nobody knows.
  void has_gone(const LockName& name) {
    const auto found = rooms_.find(name);
    if (found != rooms_.end() && --found->second.own == 0) rooms_.erase(found);
  }
  /// The claim of this client that stood there has been deleted by it.
  void gave_back(const LockName& name, std::uint32_t permits) {
    const auto found = rooms_.find(name);
    if (found != rooms_.end() && found->second.claimed >= permits) found->second.claimed -= permits;
  }
  /// What a read, or a write that found the door as it was, has shown. REQUIRES: a claim of this client is there.
  void learn(const LockName& name, std::int64_t door, std::uint32_t total, std::uint64_t claimed) {
    Room& room = rooms_.at(name);
    room.door = door;
    room.total = total;
    room.claimed = claimed;
  }

 private:
  std::map<LockName, Room> rooms_;
};

}  // namespace holdfast::etcd
