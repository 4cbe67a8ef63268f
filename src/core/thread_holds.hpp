#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "holdfast/hold.hpp"

namespace holdfast::core {

/// The locks that one thread holds through lock(), by cell. Belongs to that thread alone, so re-entry and the question
/// "is it mine?" need no synchronisation. A thread that ends gives back what it still holds.
class ThreadHolds {
 public:
  struct Entry {
    std::uint64_t cell;  ///< Cell::serial
    std::size_t depth;
    Hold hold;
  };

  static ThreadHolds& mine() {
    thread_local ThreadHolds holds;
    return holds;
  }

  /// Null if this thread does not hold it. Newest first: that is the one most likely asked for.
  Entry* find(std::uint64_t cell) {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (entry->cell == cell) return &*entry;
    }
    return nullptr;
  }

  void add(std::uint64_t cell, Hold hold) { entries_.push_back({cell, 1, std::move(hold)}); }

  /// REQUIRES: `entry` came from find().
  Hold take(Entry& entry) {
    Hold hold = std::move(entry.hold);
    entries_.erase(entries_.begin() + (&entry - entries_.data()));
    return hold;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace holdfast::core
