#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/ids/snowflake_layout.hpp"

namespace holdfast::ids_sim {

/// What was granted and what was issued in a history, and whether that is unique.
class Audit {
 public:
  explicit Audit(const ids::SnowflakeLayout& layout) : layout_(layout) {}

  /// Somebody may issue ids of this worker number in ticks from `start` to before `limit`. Returns a handle.
  std::size_t granted(std::uint32_t worker, std::int64_t start, std::int64_t limit);
  void extended(std::size_t grant, std::int64_t limit);
  /// It was given back: nothing was issued in or after tick `end`.
  void ended(std::size_t grant, std::int64_t end);

  void issued(std::size_t grant, std::uint64_t id);

  /// Ids that were issued more than once.
  std::vector<std::uint64_t> duplicates() const;
  /// Grants of one number that overlap, and ids outside of their grants; in words, one each.
  std::vector<std::string> broken_windows() const;
  std::size_t ids() const { return issued_.size(); }

 private:
  struct Grant {
    std::uint32_t worker = 0;
    std::int64_t start = 0;
    std::int64_t limit = 0;
  };
  struct Id {
    std::uint64_t id = 0;
    std::size_t grant = 0;
  };

  ids::SnowflakeLayout layout_;
  std::vector<Grant> grants_;
  std::vector<Id> issued_;
};

}  // namespace holdfast::ids_sim
