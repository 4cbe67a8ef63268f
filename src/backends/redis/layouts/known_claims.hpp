#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/instant.hpp"
#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "kit/claim_key.hpp"
#include "spi/claims.hpp"

namespace holdfast::redis {

/// The claims of this client that the store is known to have, as of its last answer.
class KnownClaims {
 public:
  struct Claim {
    bool waiting = false;
    base::Instant since = {};  ///< when we first heard that it waits, or holds
    base::Instant ends = {};   ///< by then the store has forgotten it, unless we hear of it again
    std::uint64_t told = 0;    ///< the number of the grant that the core was told of without asking
  };

  void note(const spi::ClaimRef& ref, const Claim& claim) {
    const auto found = claims_.find(ref);
    if (found == claims_.end()) {
      claims_.emplace(kit::ClaimKey{.name = ref.name, .kind = ref.kind, .id = ref.id}, claim);
    } else {
      const Claim before = std::exchange(found->second, claim);
      if (before.waiting) --waiting_;
      if (before.waiting == claim.waiting) found->second.since = before.since;
      found->second.told = before.told;
    }
    if (claim.waiting) ++waiting_;
  }

  void forget(const spi::ClaimRef& ref) {
    if (const auto found = claims_.find(ref); found != claims_.end()) erase(found);
  }

  /// False if the core was told of this very grant before.
  bool is_news(const spi::ClaimRef& ref, std::uint64_t number) {
    const auto found = claims_.find(ref);
    return found == claims_.end() || std::exchange(found->second.told, number) != number;
  }

  /// Forgets those that the store has forgotten, too.
  void forget_ended(base::Instant now) {
    for (auto at = claims_.begin(); at != claims_.end();) {
      const auto next = std::next(at);
      if (at->second.ends <= now) erase(at);
      at = next;
    }
  }

  bool empty() const { return claims_.empty(); }
  bool any_held() const { return claims_.size() > waiting_; }
  bool any_held_since(base::Instant instant) const {
    return std::any_of(claims_.begin(), claims_.end(),
                       [&](const auto& each) { return !each.second.waiting && each.second.since <= instant; });
  }
  bool any_waits() const { return waiting_ > 0; }

  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const auto& [key, claim] : claims_)
      visit(spi::ClaimRef{.name = key.name, .kind = key.kind, .id = key.id}, claim);
  }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(const auto& key) const noexcept { return std::hash<spi::ClaimId>()(key.id); }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    bool operator()(const auto& a, const auto& b) const noexcept {
      return a.id == b.id && a.kind == b.kind && a.name == b.name;
    }
  };
  using Claims = std::unordered_map<kit::ClaimKey, Claim, Hash, Equal>;

  void erase(Claims::iterator at) {
    if (at->second.waiting) --waiting_;
    claims_.erase(at);
  }

  Claims claims_;
  std::size_t waiting_ = 0;
};

}  // namespace holdfast::redis
