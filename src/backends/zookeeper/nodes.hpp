#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/status.hpp"
#include "kit/line_rule.hpp"
#include "spi/claims.hpp"

namespace holdfast::zookeeper {

/// How names become nodes.
///
///     /holdfast/<name>                       a lock: a container whose children are its claims
///     /holdfast/%semaphores/<name>           a semaphore; its data are those of SemaphoreData
///     /holdfast/%registers/<name>            a register: its data is the value
///     /holdfast/%sessions/<session>          what a client writes to, to be sure that its session is alive
///
/// Characters of names outside of [A-Za-z0-9._-] are percent-encoded, so that every name is one part of a path, and no
/// name is one of the folders above.
class Nodes {
 public:
  explicit Nodes(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string locks() const { return root_; }
  std::string semaphores() const { return root_ + "/%semaphores"; }
  std::string registers() const { return root_ + "/%registers"; }
  std::string sessions() const { return root_ + "/%sessions"; }

  std::string line_of(std::string_view name, bool permits) const {
    return (permits ? semaphores() : locks()) + "/" + encode(name);
  }
  std::string register_of(std::string_view name) const { return registers() + "/" + encode(name); }

  static std::string encode(std::string_view name);
  /// Empty if it is not the node of a name.
  static std::optional<std::string> decode(std::string_view node);

 private:
  std::string root_;
};

/// A claim's id as it stands in the name of its node: a UUID.
std::string guid_of(const spi::ClaimId& id);
/// The id whose guid that is; empty if there is none.
std::optional<spi::ClaimId> id_of(std::string_view guid);

/// The names of a claim's nodes. Those of exclusive claims are the ones of Curator's InterProcessMutex:
///
///     _c_<guid>-lock-0000000007              exclusive
///     _c_<guid>-read-lock-0000000007         shared
///     _c_<guid>-2-of-5-lock-0000000007       permits
///     _c_<guid>-shared-0000000007            beside the first: that claim has become shared
///
/// Any other node whose name ends with ten digits is an exclusive claim of another library.
std::string new_node_of(const spi::ClaimId& id, const spi::Mode& mode);
std::string mark_of_shared(const spi::ClaimId& id, std::int64_t sequence);
/// The digits at the end of a node's name, which number the nodes of a line.
inline constexpr std::size_t sequence_bytes = 10;
/// Their number; -1 if the name does not end with one.
std::int64_t sequence_of(std::string_view node);
/// The name that the servers give to a new node if none was created in its line since the one with that sequence. Empty
/// where they cannot count any further, because there a number may be given twice.
std::optional<std::string> node_after(std::int64_t sequence, const std::string& new_node);

/// One claim in a line.
struct Entry {
  std::string node = {};
  std::int64_t sequence = 0;
  bool has_guid = false;  ///< it is one of ours, or of Curator's
  spi::Mode mode = {};

  std::string_view guid() const;  ///< empty if it has none
  std::string mark() const;       ///< the node that makes it shared, if it is there

  /// Empty if it is no claim's node.
  static std::optional<Entry> from(const std::string& node);
  /// Whether the node is not a claim but the mark beside one.
  bool is_mark() const { return has_guid && node == mark(); }

  /// The order of claims.
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.node < b.node;
  }
};

/// All claims of a line, the oldest first.
using Entries = std::vector<Entry>;
Entries entries_from(const std::vector<std::string>& children);

/// The data of a semaphore after it was resized: which of its claims still count with the total in their names.
struct SemaphoreData {
  std::uint32_t total = 0;
  std::int64_t before = 0;  ///< claims with smaller sequences are older than the resize
  std::int64_t kept = -1;   ///< claims with a sequence up to this were granted at that time

  std::string text() const;
  static std::optional<SemaphoreData> from(std::string_view text);
};

/// A line, and which of its claims are granted.
class Line {
 public:
  Line() = default;
  Line(std::shared_ptr<const Entries> entries, const std::optional<SemaphoreData>& data);
  static Line from(const std::vector<std::string>& children, const std::optional<SemaphoreData>& data);

  const Entries& entries() const { return *entries_; }
  bool empty() const { return entries_->empty(); }
  /// Of a semaphore; 0 if nobody is there.
  std::uint32_t total() const { return total_; }

  const Entry* find(std::string_view guid) const;
  std::size_t place_of(const Entry& entry) const { return static_cast<std::size_t>(&entry - entries_->data()); }
  kit::LinePosition position_of(std::size_t place) const { return kit::position_of(rule_, place, total_); }
  bool is_granted(std::size_t place) const { return position_of(place).kind == kit::LinePosition::Kind::granted; }
  /// The oldest of the claims that it waits for; it cannot be granted before that one ends. REQUIRES: it is behind_one.
  std::size_t first_ahead_of(std::size_t place) const;
  /// Whether a claim of this mode that joined now would be granted.
  bool admits(const spi::Mode& mode) const;
  /// The same line without that claim.
  Line without(std::string_view guid) const;

 private:
  std::shared_ptr<const Entries> entries_ = std::make_shared<const Entries>();
  std::optional<SemaphoreData> data_ = {};
  std::uint32_t total_ = 0;
  std::vector<kit::LineEntry> rule_ = {};
};

}  // namespace holdfast::zookeeper
