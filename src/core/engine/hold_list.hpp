#pragma once

#include <memory>
#include <utility>

#include "core/engine/hold_record.hpp"

namespace holdfast::core {

/// The holds on one claim. Owns its share of them; adding and removing is O(1) and allocates nothing.
class HoldList {
 public:
  HoldList() = default;
  ~HoldList() { clear(); }
  HoldList(const HoldList&) = delete;
  HoldList& operator=(const HoldList&) = delete;

  bool empty() const { return first_ == nullptr; }
  std::size_t size() const {
    std::size_t count = 0;
    for (const HoldRecord* hold = first(); hold != nullptr; hold = next(*hold)) ++count;
    return count;
  }
  HoldRecord* first() const { return first_.get(); }
  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): asked of a list, as with the other lists
  HoldRecord* next(const HoldRecord& hold) const { return hold.next_.get(); }

  void add(std::shared_ptr<HoldRecord> hold) {
    hold->previous_ = nullptr;
    hold->next_ = std::move(first_);
    if (hold->next_) hold->next_->previous_ = hold.get();
    first_ = std::move(hold);
  }

  std::shared_ptr<HoldRecord> remove(HoldRecord& hold) {
    std::shared_ptr<HoldRecord>& link = hold.previous_ != nullptr ? hold.previous_->next_ : first_;
    std::shared_ptr<HoldRecord> removed = std::exchange(link, std::move(hold.next_));
    if (link) link->previous_ = hold.previous_;
    return removed;
  }

  /// One after the other: a chain that is dropped at once would be dropped recursively.
  void clear() {
    while (first_) first_ = std::move(first_->next_);
  }

 private:
  std::shared_ptr<HoldRecord> first_;
};

}  // namespace holdfast::core
