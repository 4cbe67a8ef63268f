#pragma once

#include <mutex>
#include <vector>

#include "crash/disk_event.hpp"

namespace holdfast::crash {

/// All that happened to a disk, in order. A position is a moment: that many events had happened.
class DiskJournal final : public DiskObserver {
 public:
  DiskJournal() = default;
  /// Goes on after the first `count` events of another.
  DiskJournal(const DiskJournal& other, std::size_t count)
      : events_(other.events_.begin(), other.events_.begin() + static_cast<std::ptrdiff_t>(count)) {}

  void happened(const DiskEvent& event) override {
    const std::scoped_lock lock(mutex_);
    events_.push_back(event);
  }

  /// Now. What SQLite did for a call is at most here when the call has returned.
  std::size_t position() const {
    const std::scoped_lock lock(mutex_);
    return events_.size();
  }

  /// REQUIRES: nothing happens any more.
  const std::vector<DiskEvent>& events() const { return events_; }

 private:
  mutable std::mutex mutex_;
  std::vector<DiskEvent> events_;
};

}  // namespace holdfast::crash
