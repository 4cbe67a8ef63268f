#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "backends/etcd/known_claims.hpp"

namespace holdfast::etcd {

/// Which keys the claims of this client have in each line: few, used again and again. The server remembers every key that there ever
/// was until somebody compacts its history, and goes through them whenever it looks at a line.
///
/// A key is used again only when no request can be under way that would write or delete it for its former claim.
class Slots {
 public:
  /// Of all clients, only this one has it.
  explicit Slots(std::uint64_t client) : client_(client) {}

  /// What stands for the claim in its key, if it has one.
  std::optional<spi::ClaimId> find(const ClaimKey& claim) const {
    const auto line = lines_.find({claim.name, claim.kind});
    if (line == lines_.end()) return std::nullopt;
    const auto slot = line->second.slots.find(claim.id);
    if (slot == line->second.slots.end()) return std::nullopt;
    return spi::ClaimId{client_, slot->second};
  }

  /// The same; if it has none, it is given one.
  spi::ClaimId of(const ClaimKey& claim) {
    Line& line = lines_[{claim.name, claim.kind}];
    const auto [at, is_new] = line.slots.try_emplace(claim.id);
    if (is_new) {
      while (line.used.contains(at->second)) ++at->second;
      line.used.insert(at->second);
    }
    return {client_, at->second};
  }

  /// A request about it may be executed at any time: its key is not used again.
  void doubt(const ClaimKey& claim) { doubtful_.insert(claim); }

  /// It is not there, and nothing more will be asked about it.
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
    std::set<std::uint64_t> used;  ///< some perhaps for ever
  };

  const std::uint64_t client_;
  std::map<std::pair<LockName, LockKind>, Line> lines_;
  std::set<ClaimKey> doubtful_;
};

}  // namespace holdfast::etcd
