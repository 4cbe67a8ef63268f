#pragma once

#include <cstdint>
#include <map>

#include "holdfast/name.hpp"

namespace holdfast::etcd {

/// What this client knows about semaphores without reading their lines. It knows a semaphore for as long as it has
/// claims there.
///
/// Everybody who joins the line of a semaphore also writes the semaphore's joined mark, a key under the same lease, and
/// everybody who changes the total deletes that key. So if the mark has not been written since it was read, nobody has
/// joined since. Some claims may have gone; then even fewer permits are claimed than the cache says, and a claim that
/// fits according to the cache is granted. (A missing mark proves nothing: whoever leaves may delete it at any time.)
class SemaphoreCache {
 public:
  struct Semaphore {
    std::int64_t mark_revision = 0;  ///< when the joined mark was written; 0: nothing is known
    std::uint32_t total = 0;
    std::uint64_t claimed = 0;  ///< how many permits holders and waiters have claimed at most
    std::size_t own = 0;        ///< how many claims this client has there

    bool fits(std::uint32_t permits, std::uint32_t wanted_total) const {
      return mark_revision != 0 && total == wanted_total && claimed + permits <= total;
    }
  };

  /// Null if this client has no claim there.
  const Semaphore* find(const LockName& name) const {
    const auto found = semaphores_.find(name);
    return found == semaphores_.end() ? nullptr : &found->second;
  }

  /// This client has one more claim there. That says nothing about the claims of others.
  void has_joined(const LockName& name) { ++semaphores_[name].own; }
  /// This client has one claim less there, or does not know whether it still has it.
  void has_left(const LockName& name) {
    const auto found = semaphores_.find(name);
    if (found != semaphores_.end() && --found->second.own == 0) semaphores_.erase(found);
  }
  /// This client has deleted a claim that it had there.
  void gave_back(const LockName& name, std::uint32_t permits) {
    const auto found = semaphores_.find(name);
    if (found != semaphores_.end() && found->second.claimed >= permits) found->second.claimed -= permits;
  }
  /// Notes what was read, or what follows from a write that found the joined mark unchanged. REQUIRES: this client has a
  /// claim there.
  void learn(const LockName& name, std::int64_t mark_revision, std::uint32_t total, std::uint64_t claimed) {
    Semaphore& semaphore = semaphores_.at(name);
    semaphore.mark_revision = mark_revision;
    semaphore.total = total;
    semaphore.claimed = claimed;
  }

 private:
  std::map<LockName, Semaphore> semaphores_;
};

}  // namespace holdfast::etcd
