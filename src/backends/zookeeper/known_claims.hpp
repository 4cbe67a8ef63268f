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
#include "kit/claim_key.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::zookeeper {

using kit::ClaimKey;

/// The name of the queue that has the requests about this claim alone.
inline std::string queue_name_of(const ClaimKey& key) {
  return key.name.text() + '\0' + (key.permits() ? "permits" : "") + guid_of(key.id);
}

/// A claim's node, as the servers last told it.
struct KnownClaim {
  SessionPtr session;
  std::string line;  ///< the path of the node above
  std::string node;  ///< its own name there
  std::uint64_t number = 0;
  spi::Mode mode = {};
  bool waiting = false;
  std::string ahead = {};  ///< the node that it watches while it waits, or its line; empty if it watches none
  /// Somebody has asked it to release: the change of its data that said so, and until when, by our clock.
  std::uint64_t asked_in = 0;
  base::Instant asked_until = {};
  /// From when it has been held for long: makes the loop read at once what the servers tell about its node.
  std::shared_ptr<const spi::Expectation> reading = {};

  /// It is shared, and was exclusive when it joined.
  bool was_downgraded() const {
    return mode.kind == ClaimMode::shared && node.find("-read-lock-") == std::string::npos;
  }
  std::string path() const { return line + "/" + node; }
  std::int64_t sequence() const { return sequence_of(node); }
};

/// The claims of this client that have nodes, those that may have one, and which of them watch which nodes.
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
  /// Whether the newest of them in that line takes permits out of so many.
  bool has_permits_in(const std::string& line, std::uint32_t limit) const {
    const auto found = lines_.find(line);
    return found != lines_.end() && found->second.limit == limit;
  }

  /// The removal of its node has been sent in that session and is not answered yet.
  void leaves(const ClaimKey& key, const Session& session) { leaving_[key] = &session; }
  void has_left(const ClaimKey& key) { leaving_.erase(key); }
  /// Whatever that session does from now on happens after the claim was removed.
  bool is_leaving(const ClaimKey& key, const Session& session) const {
    const auto found = leaving_.find(key);
    return found != leaving_.end() && found->second == &session;
  }

  /// A request to create its node was sent; nobody knows yet whether it was executed.
  void doubt(const ClaimKey& key) { doubts_[key] = true; }
  bool is_doubtful(const ClaimKey& key) const { return doubts_.contains(key); }

  /// Whether that node of one of our sessions may be there for a reason: it is the one of a claim, or may be that of a
  /// request under way. Any other was forgotten after a wrong answer, and stays for as long as its session if it is not
  /// removed.
  bool may_want(const ClaimKey& key, const std::string& path) const {
    const auto found = claims_.find(key);
    if (found != claims_.end() && found->second.path() == path) return true;
    return doubts_.contains(key) || leaving_.contains(key);
  }

  /// The claim is to be checked when that node changes. (The caller sets the watch in the servers.)
  void watch(const Session& session, const std::string& path, const ClaimKey& key) {
    auto& keys = watchers_[{&session, path}];
    for (const ClaimKey& each : keys) {
      if (each == key) return;
    }
    keys.push_back(key);
  }
  std::vector<ClaimKey> take_watchers(const Session& session, const std::string& path) {
    const auto found = watchers_.find({&session, path});
    if (found == watchers_.end()) return {};
    auto keys = std::move(found->second);
    watchers_.erase(found);
    return keys;
  }

  std::vector<ClaimKey> of_session(const Session& session) const {
    std::vector<ClaimKey> keys;
    for (const auto& [key, claim] : claims_) {
      if (claim.session.get() == &session) keys.push_back(key);
    }
    return keys;
  }
  void forget_watchers(const Session& session) {
    std::erase_if(watchers_, [&](const auto& each) { return each.first.first == &session; });
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

  std::unordered_map<ClaimKey, KnownClaim, ClaimKey::Hash> claims_;
  std::unordered_map<std::string, InLine> lines_;
  std::unordered_map<ClaimKey, bool, ClaimKey::Hash> doubts_;
  std::unordered_map<ClaimKey, const Session*, ClaimKey::Hash> leaving_;
  std::map<std::pair<const Session*, std::string>, std::vector<ClaimKey>> watchers_;
};

}  // namespace holdfast::zookeeper
