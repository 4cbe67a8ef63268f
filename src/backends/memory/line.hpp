#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/memory/event.hpp"
#include "base/instant.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::memory {

struct Line;

/// One claim, in one of the two lists of its line. Small, because there is one for every lock that is held.
struct Claim {
  struct Extras {
    struct Asked {
      std::string reason = {};
      base::Instant until = {};
    };
    std::string reason = {};
    spi::milliseconds lock_delay = {};
    std::optional<Asked> asked = {};  ///< to release
  };

  spi::ClaimId id = {};
  Line* line = nullptr;
  Claim* previous = nullptr;
  Claim* next = nullptr;
  std::size_t queue_index = static_cast<std::size_t>(-1);  ///< for DeadlineHeap
  base::Instant expires = {};
  spi::milliseconds lease = {};  ///< as given when it was last armed
  base::Instant since = {};      ///< granted, or joined the line
  std::uint64_t number = 0;
  std::shared_ptr<const ClientIdentity> identity = {};
  std::unique_ptr<Extras> extras = {};  ///< most claims have none
  std::uint32_t units = 1;              ///< how much of the line's limit it takes
  std::uint32_t ordinal = 0;            ///< waiting: counts up along the line, see Line::ordinals_stale
  ClientNumber client = 0;
  ClaimMode mode : 8 = ClaimMode::exclusive;
  bool granted : 1 = false;
  bool ghost : 1 = false;  ///< granted, and its lease has ended: until `expires` it only keeps others out

  base::Instant due() const { return expires; }
  Extras& with_extras() {
    if (!extras) extras = std::make_unique<Extras>();
    return *extras;
  }
  spi::milliseconds lock_delay() const { return extras ? extras->lock_delay : spi::milliseconds::zero(); }
  /// When it keeps nobody out any more, if it is granted and nobody hears of it again.
  base::Instant opens() const { return ghost ? expires : base::end_of(lock_delay(), expires); }
};

/// A doubly linked list through the claims themselves.
class ClaimList {
 public:
  Claim* front() const { return front_; }
  Claim* back() const { return back_; }
  bool empty() const { return front_ == nullptr; }

  void push_back(Claim& claim) {
    claim.previous = back_;
    claim.next = nullptr;
    (back_ == nullptr ? front_ : back_->next) = &claim;
    back_ = &claim;
  }

  void erase(Claim& claim) {
    (claim.previous == nullptr ? front_ : claim.previous->next) = claim.next;
    (claim.next == nullptr ? back_ : claim.next->previous) = claim.previous;
  }

 private:
  Claim* front_ = nullptr;
  Claim* back_ = nullptr;
};

/// The lock and the semaphore of one name are different things, so they have different lines.
struct LineKey {
  LockName name;
  LockKind kind = LockKind::lock;
};

/// All claims on one name: those that are granted, and those that wait, in the order in which they came.
///
/// The modes differ only in how much they take of the line's limit: permits take k of n; shared claims take 1 and
/// exclusive ones all of a limit that nobody reaches. A claim enters when it is the first in line and fits.
struct Line {
  static constexpr std::uint32_t everything = static_cast<std::uint32_t>(-1);
  static constexpr std::uint32_t not_vacant = static_cast<std::uint32_t>(-1);

  const LineKey* key = nullptr;  ///< in the store's map
  ClaimList granted = {};        ///< whoever was armed longest ago comes first
  ClaimList waiting = {};
  std::uint64_t expired_number = 0;  ///< of the last holder whose lease ended; 0 if somebody was granted since
  std::uint32_t granted_count = 0;
  std::uint32_t used = 0;  ///< more than the limit, after it was lowered
  std::uint32_t limit = everything;
  std::uint32_t vacant_index = not_vacant;  ///< in the store's list of vacant lines
  bool ordinals_stale = false;              ///< a claim left from the middle: number them again before counting
  bool unsettled = false;                   ///< a claim expired: somebody may have to be promoted

  static std::uint32_t limit_of(const spi::Mode& mode) {
    return mode.kind == ClaimMode::permits ? mode.limit : everything;
  }
  static std::uint32_t units_of(const spi::Mode& mode) {
    if (mode.kind == ClaimMode::permits) return mode.permits;
    return mode.kind == ClaimMode::shared ? 1 : everything;
  }

  bool vacant() const { return granted.empty() && waiting.empty(); }
  bool fits(std::uint32_t units) const { return used <= limit && units <= limit - used; }
};

}  // namespace holdfast::memory
