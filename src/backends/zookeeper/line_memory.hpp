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

/// What a session has last read of long lines, so that it need not read all of a line for each of its own claims there.
///
/// The servers count how many children were made and removed below a node, and answer the requests of one session in
/// the order in which they execute them. So if a stat counts only those changes that this session has made itself since
/// it read the line, the line is as it was read, with these changes. A change that nobody told us of is counted, too:
/// then the line does not fit, and is read again. (All of it is called when an answer comes, in the order of the
/// answers.)
class LineMemory {
 public:
  /// A shorter line is read as fast as its stat is.
  static constexpr std::size_t worth_remembering = 64;

  /// The line was read.
  std::shared_ptr<const Entries> read(const std::string& line, const NodeStat& stat,
                                      const std::vector<std::string>& children) {
    auto entries = std::make_shared<Entries>(entries_from(children));
    if (entries->size() < worth_remembering) {
      lines_.erase(line);
    } else {
      if (lines_.size() >= most_lines && !lines_.contains(line)) lines_.erase(lines_.begin());
      lines_.insert_or_assign(line, Memory{stat.created, stat.changes, entries});
    }
    return entries;
  }

  bool has(const std::string& line) const { return lines_.contains(line); }

  /// The claims of a line that has this stat now; null if they have to be read.
  std::shared_ptr<const Entries> recall(const std::string& line, const NodeStat& stat) const {
    const auto found = lines_.find(line);
    if (found == lines_.end()) return nullptr;
    const Memory& memory = found->second;
    const bool fits = memory.created == stat.created && memory.changes == stat.changes;
    return fits ? memory.entries : nullptr;
  }

  /// This session made that node.
  void added(const std::string& path) {
    const auto [memory, node] = find(path);
    if (memory == nullptr) return;
    auto entry = Entry::from(node);
    if (!entry || entry->is_mark()) return;  // not counted: it does not fit any more
    Entries& entries = memory->changeable();
    const auto place = std::upper_bound(entries.begin(), entries.end(), *entry);
    entries.insert(place, *std::move(entry));
    memory->changed();
  }

  /// This session removed that node.
  void removed(const std::string& path) {
    const auto [memory, node] = find(path);
    if (memory == nullptr) return;
    const auto is_it = [&name = node](const Entry& each) { return each.node == name; };
    const auto& entries = *memory->entries;
    const auto found = std::find_if(entries.begin(), entries.end(), is_it);
    if (found == entries.end()) return;
    const auto gone = found - entries.begin();
    Entries& changed = memory->changeable();
    changed.erase(changed.begin() + gone);
    memory->changed();
  }

 private:
  static constexpr std::size_t most_lines = 16;

  struct Memory {
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

  std::pair<Memory*, std::string> find(const std::string& path) {
    if (lines_.empty()) return {};
    const std::size_t slash = path.rfind('/');
    const auto found = lines_.find(path.substr(0, slash));
    if (found == lines_.end()) return {};
    return {&found->second, path.substr(slash + 1)};
  }

  std::unordered_map<std::string, Memory> lines_;
};

}  // namespace holdfast::zookeeper
