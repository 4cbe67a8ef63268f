#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/instant.hpp"
#include "holdfast/name.hpp"
#include "spi/claims.hpp"

namespace holdfast::redis {

/// The claims of this client that the store is known to have, as of its last answer: which kind each of them is,
/// because requests about claims do not say it, and which of them wait to be told something.
class KnownClaims {
 public:
  struct Claim {
    bool permits = false;
    bool waiting = false;
    base::Instant since = {};  ///< when we first heard that it waits, or holds
    base::Instant ends = {};   ///< by then the store has forgotten it, unless we hear of it again
    std::uint64_t told = 0;    ///< the number of the grant that the core was told of without asking
  };

  void note(const LockName& name, const spi::ClaimId& id, const Claim& claim) {
    const auto [at, is_new] = claims_.try_emplace(Key{id, name}, claim);
    if (!is_new) {
      const Claim before = std::exchange(at->second, claim);
      if (before.waiting) --waiting_;
      if (before.waiting == claim.waiting) at->second.since = before.since;
      at->second.told = before.told;
    }
    if (claim.waiting) ++waiting_;
  }

  void forget(const LockName& name, const spi::ClaimId& id) {
    if (const auto found = claims_.find(Key{id, name}); found != claims_.end()) erase(found);
  }

  /// False if the core was told of this very grant before.
  bool is_news(const LockName& name, const spi::ClaimId& id, std::uint64_t number) {
    const auto found = claims_.find(Key{id, name});
    return found == claims_.end() || std::exchange(found->second.told, number) != number;
  }

  /// The kind of line that it stands in, if it is known.
  std::optional<bool> permits(const LockName& name, const spi::ClaimId& id) const {
    const auto found = claims_.find(Key{id, name});
    if (found == claims_.end()) return std::nullopt;
    return found->second.permits;
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
    for (const auto& [key, claim] : claims_) visit(key.name, key.id, claim);
  }

 private:
  // Several names may use one id.
  struct Key {
    spi::ClaimId id;
    LockName name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept { return std::hash<spi::ClaimId>()(key.id); }
  };
  using Claims = std::unordered_map<Key, Claim, Hash>;

  void erase(Claims::iterator at) {
    if (at->second.waiting) --waiting_;
    claims_.erase(at);
  }

  Claims claims_;
  std::size_t waiting_ = 0;
};

}  // namespace holdfast::redis
