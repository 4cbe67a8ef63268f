#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/time.hpp"

namespace holdfast::sim {

/// What will happen when, the earliest first; at the same moment, what was added first.
class EventQueue {
 public:
  enum class Kind : std::uint8_t { request, reply, push, write, fault_begins, fault_ends };

  struct Entry {
    Moment at;
    std::uint32_t order;
    std::uint32_t subject;  ///< a message or a fault
    Kind kind;
  };

  bool empty() const { return entries_.empty(); }
  Moment next() const { return entries_.empty() ? never : entries_.front().at; }

  void add(Moment at, Kind kind, std::uint32_t subject) {
    entries_.push_back({at, added_++, subject, kind});
    std::push_heap(entries_.begin(), entries_.end(), later);
  }

  /// REQUIRES: !empty().
  Entry take() {
    std::pop_heap(entries_.begin(), entries_.end(), later);
    const Entry entry = entries_.back();
    entries_.pop_back();
    return entry;
  }

  void clear() {
    entries_.clear();
    added_ = 0;
  }

 private:
  static bool later(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }

  std::vector<Entry> entries_;
  std::uint32_t added_ = 0;
};

}  // namespace holdfast::sim
