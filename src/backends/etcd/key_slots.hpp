#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "backends/etcd/known_claims.hpp"

namespace holdfast::etcd {

/// Chooses the keys of this client's claims: few for each line, which are used again and again. The server remembers
/// every key that ever existed until its history is compacted, and goes through all of them whenever it reads a line.
///
/// A key is used again only when no request can be under way that would write or delete it for its former claim.
class KeySlots {
 public:
  /// `client`: a number that no other client has.
  explicit KeySlots(std::uint64_t client) : client_(client) {}

  /// What stands for the claim in its key. Empty if the claim has no key of ours.
  std::optional<spi::ClaimId> find(const ClaimKey& claim) const {
    const auto line = lines_.find({claim.name, claim.kind});
    if (line == lines_.end()) return std::nullopt;
    const auto slot = line->second.slots.find(claim.id);
    if (slot == line->second.slots.end()) return std::nullopt;
    return spi::ClaimId{client_, slot->second};
  }

  /// The same; a claim without a slot is given one.
  spi::ClaimId of(const ClaimKey& claim) {
    Line& line = lines_[{claim.name, claim.kind}];
    const auto [at, is_new] = line.slots.try_emplace(claim.id);
    if (is_new) {
      while (line.used.contains(at->second)) ++at->second;
      line.used.insert(at->second);
    }
    return {client_, at->second};
  }

  /// A request about the claim may be executed at any time from now on, so its key is never used again.
  void doubt(const ClaimKey& claim) { doubtful_.insert(claim); }

  /// The claim does not exist, and no request about it will be made any more.
  void free(const ClaimKey& claim) {
    const auto line = lines_.find({claim.name, claim.kind});
    if (line == lines_.end()) return;
    const auto slot = line->second.slots.find(claim.id);
    if (slot == line->second.slots.end()) return;
    if (doubtful_.erase(claim) == 0) line->second.used.erase(slot->second);
    line->second.slots.erase(slot);
    if (line->second.used.empty()) lines_.erase(line);
  }

 private:
  struct Line {
    std::map<spi::ClaimId, std::uint64_t> slots;
    std::set<std::uint64_t> used;  ///< doubtful ones stay in it for ever
  };

  const std::uint64_t client_;
  std::map<std::pair<LockName, LockKind>, Line> lines_;
  std::set<ClaimKey> doubtful_;
};

}  // namespace holdfast::etcd
