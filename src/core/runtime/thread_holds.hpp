#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "holdfast/hold.hpp"

namespace holdfast::core {

/// The locks that one thread holds through lock(), by cell. Belongs to that thread alone, so re-entry and the question
/// "is it mine?" need no synchronisation. A thread that ends gives back what it still holds.
class ThreadHolds {
 public:
  struct Entry {
    std::uint64_t cell = 0;  ///< Cell::serial
    std::size_t depth = 0;
    Hold hold = {};
  };

  static ThreadHolds& mine() {
    thread_local ThreadHolds holds;
    return holds;
  }

  /// Null if this thread does not hold it. Stays where it is until it is removed.
  Entry* find(std::uint64_t cell) {
    for (Entry& entry : entries_) {
      if (entry.cell == cell) return &entry;
    }
    return nullptr;
  }

  /// Newest first: that is the one most likely asked for.
  void add(std::uint64_t cell, Hold hold) {
    if (spare_.empty()) spare_.emplace_front();
    spare_.front() = {cell, 1, std::move(hold)};
    entries_.splice(entries_.begin(), spare_, spare_.begin());
  }

  /// Releases the entry's hold. REQUIRES: `entry` came from find().
  void remove(Entry& entry) {
    const Hold released = std::move(entry.hold);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (&*at != &entry) continue;
      if (spare_.empty()) {
        spare_.splice(spare_.begin(), entries_, at);
      } else {
        entries_.erase(at);
      }
      break;
    }
  }

 private:
  std::list<Entry> entries_;
  std::list<Entry> spare_;  ///< one, so that locking and unlocking allocates nothing
};

}  // namespace holdfast::core
