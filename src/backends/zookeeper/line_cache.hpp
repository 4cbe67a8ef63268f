#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/reply.hpp"

namespace holdfast::zookeeper {

/// Remembers the long lines that a session has read, so that the session need not read a whole line for each of its own
/// claims there.
///
/// The servers count how many children were created and removed below a node, and they answer the requests of one
/// session in the order in which they execute them. So if a stat counts only the changes that this session has made
/// itself since it read the line, then the line is what it read plus these changes. A change by somebody else is
/// counted, too: then the count does not match, and the line is read again. (All functions are called when an answer
/// comes, in the order of the answers.)
class LineCache {
 public:
  /// Reading a shorter line costs as little as reading its stat.
  static constexpr std::size_t worth_caching = 64;

  /// The line was read. Answers its claims.
  std::shared_ptr<const Entries> read(const std::string& line, const NodeStat& stat,
                                      const std::vector<std::string>& children) {
    auto entries = std::make_shared<Entries>(entries_from(children));
    if (entries->size() < worth_caching) {
      lines_.erase(line);
    } else {
      if (lines_.size() >= most_lines && !lines_.contains(line)) lines_.erase(lines_.begin());
      lines_.insert_or_assign(line, CachedLine{stat.created, stat.changes, entries});
    }
    return entries;
  }

  bool has(const std::string& line) const { return lines_.contains(line); }

  /// The claims of a line whose stat is now this one; null if they have to be read.
  std::shared_ptr<const Entries> find(const std::string& line, const NodeStat& stat) const {
    const auto found = lines_.find(line);
    if (found == lines_.end()) return nullptr;
    const CachedLine& cached = found->second;
    const bool fits = cached.created == stat.created && cached.changes == stat.changes;
    return fits ? cached.entries : nullptr;
  }

  /// This session has created that node.
  void added(const std::string& path) {
    const auto [cached, node] = locate(path);
    if (cached == nullptr) return;
    auto entry = Entry::from(node);
    if (!entry || entry->is_mark()) return;  // not counted, so the line will not match any more
    Entries& entries = cached->changeable();
    const auto place = std::upper_bound(entries.begin(), entries.end(), *entry);
    entries.insert(place, *std::move(entry));
    cached->changed();
  }

  /// This session has removed that node.
  void removed(const std::string& path) {
    const auto [cached, node] = locate(path);
    if (cached == nullptr) return;
    const auto is_it = [&name = node](const Entry& each) { return each.node == name; };
    const auto& entries = *cached->entries;
    const auto found = std::find_if(entries.begin(), entries.end(), is_it);
    if (found == entries.end()) return;
    const auto gone = found - entries.begin();
    Entries& changed = cached->changeable();
    changed.erase(changed.begin() + gone);
    cached->changed();
  }

 private:
  static constexpr std::size_t most_lines = 16;

  struct CachedLine {
    std::uint64_t created = 0;  ///< the line itself may be removed and made again
    std::int32_t changes = 0;
    std::shared_ptr<Entries> entries = {};

    /// The servers count so, too: in 32 bits, and beyond the last number.
    void changed() { changes = static_cast<std::int32_t>(static_cast<std::uint32_t>(changes) + 1U); }
    /// Somebody may still look at what was.
    Entries& changeable() {
      if (entries.use_count() > 1) entries = std::make_shared<Entries>(*entries);
      return *entries;
    }
  };

  std::pair<CachedLine*, std::string> locate(const std::string& path) {
    if (lines_.empty()) return {};
    const std::size_t slash = path.rfind('/');
    const auto found = lines_.find(path.substr(0, slash));
    if (found == lines_.end()) return {};
    return {&found->second, path.substr(slash + 1)};
  }

  std::unordered_map<std::string, CachedLine> lines_;
};

}  // namespace holdfast::zookeeper
