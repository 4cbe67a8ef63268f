#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "holdfast/name.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::zookeeper {

/// A claim of this client. Several lines may use one id.
struct ClaimKey {
  spi::ClaimId id;
  LockName name;
  LockKind kind;  ///< whose line it stands in

  bool permits() const { return kind == LockKind::semaphore; }
  /// What only this claim is called, for a queue of requests about it alone.
  std::string queue_name() const { return name.text() + '\0' + (permits() ? "permits" : "") + guid_of(id); }
  friend auto operator<=>(const ClaimKey&, const ClaimKey&) = default;
};

/// A claim's node, as the servers last told us.
struct KnownClaim {
  SessionPtr session;
  std::string line;  ///< the path of the node above
  std::string node;  ///< its own name there
  std::uint64_t number = 0;
  spi::Mode mode = {};
  bool waiting = false;
  std::string ahead = {};  ///< while it waits: whose end it will hear of
  /// Somebody asked it to release: which change of its data said so, and when its time ends, by our clock.
  std::uint64_t asked_in = 0;
  base::Instant asked_until = {};
  /// Once it has been held for long: whatever is told of its node is read at once.
  std::shared_ptr<const spi::Expectation> reading = {};

  /// It was made as an exclusive one.
  bool was_downgraded() const {
    return mode.kind == ClaimMode::shared && node.find("-read-lock-") == std::string::npos;
  }
  std::string path() const { return line + "/" + node; }
  std::int64_t sequence() const { return sequence_of(node); }
};

/// The claims of this client that have nodes, those that may have, and which nodes matter to which of them.
class KnownClaims {
 public:
  KnownClaim* find(const ClaimKey& key) {
    const auto found = claims_.find(key);
    return found == claims_.end() ? nullptr : &found->second;
  }
  KnownClaim& note(const ClaimKey& key, KnownClaim claim) {
    doubts_.erase(key);
    if (const KnownClaim* const before = find(key)) leave_line(before->line);
    InLine& line = lines_[claim.line];
    ++line.count;
    line.limit = claim.mode.limit;
    return claims_.insert_or_assign(key, std::move(claim)).first->second;
  }
  void forget(const ClaimKey& key) {
    if (const KnownClaim* const before = find(key)) leave_line(before->line);
    claims_.erase(key);
    doubts_.erase(key);
  }
  bool has_any_in(const std::string& line) const { return lines_.contains(line); }
  /// Whether the newest of them there takes permits out of so many.
  bool has_permits_in(const std::string& line, std::uint32_t limit) const {
    const auto found = lines_.find(line);
    return found != lines_.end() && found->second.limit == limit;
  }

  /// The removal of its node was sent in that session, and is not answered yet.
  void leaves(const ClaimKey& key, const Session& session) { leaving_[key] = &session; }
  void has_left(const ClaimKey& key) { leaving_.erase(key); }
  /// Whatever that session does from now on happens after the claim has gone, if it happens.
  bool is_leaving(const ClaimKey& key, const Session& session) const {
    const auto found = leaving_.find(key);
    return found != leaving_.end() && found->second == &session;
  }

  /// A request to make its node was not answered.
  void doubt(const ClaimKey& key) { doubts_[key] = true; }
  bool is_doubtful(const ClaimKey& key) const { return doubts_.contains(key); }

  /// The claim is to be checked when that node changes.
  void listen(const Session& session, const std::string& path, const ClaimKey& key) {
    auto& keys = listeners_[{&session, path}];
    for (const ClaimKey& each : keys) {
      if (each == key) return;
    }
    keys.push_back(key);
  }
  std::vector<ClaimKey> take_listeners(const Session& session, const std::string& path) {
    const auto found = listeners_.find({&session, path});
    if (found == listeners_.end()) return {};
    auto keys = std::move(found->second);
    listeners_.erase(found);
    return keys;
  }

  std::vector<ClaimKey> of_session(const Session& session) const {
    std::vector<ClaimKey> keys;
    for (const auto& [key, claim] : claims_) {
      if (claim.session.get() == &session) keys.push_back(key);
    }
    return keys;
  }
  void forget_listeners(const Session& session) {
    std::erase_if(listeners_, [&](const auto& each) { return each.first.first == &session; });
  }

 private:
  void leave_line(const std::string& path) {
    const auto line = lines_.find(path);
    if (--line->second.count == 0) lines_.erase(line);
  }

  struct InLine {
    std::size_t count = 0;
    std::uint32_t limit = 0;  ///< of the newest
  };

  struct Hash {
    std::size_t operator()(const ClaimKey& key) const noexcept { return std::hash<spi::ClaimId>()(key.id); }
  };

  std::unordered_map<ClaimKey, KnownClaim, Hash> claims_;
  std::unordered_map<std::string, InLine> lines_;
  std::unordered_map<ClaimKey, bool, Hash> doubts_;
  std::unordered_map<ClaimKey, const Session*, Hash> leaving_;
  std::map<std::pair<const Session*, std::string>, std::vector<ClaimKey>> listeners_;
};

}  // namespace holdfast::zookeeper
